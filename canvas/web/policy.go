package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// kind is a kind of response, which determines its headers (policies).
type kind string

const (
	appFile    kind = "app"    // the app page and its resources
	directFile kind = "direct" // direct.html, which frames a direct url
	singleFile kind = "single" // single.html, the opaque page that frames a canvas in single-document mode

	offlineFile kind = "offline"     // the service worker of the page's origin
	offlinePage kind = "unreachable" // what that worker shows if the host is unreachable

	outerFrame kind = "frame"  // frame.html on a content host, which frames the canvas
	outerFile  kind = "asset"  // our scripts on a content host
	clearFrame kind = "clear"  // clear.html on a content host, which clears what the host's origin stored
	answer     kind = "answer" // any other response on a content host, from the service worker or the host
)

// deny is the Permissions-Policy of all responses but those with granted.
const deny = "camera=(), microphone=(), geolocation=(), " + granted

// granted is the Permissions-Policy of the page and of the documents of its frames, which
// have a feature only if the frame's allow attribute names it: the person allows it on the
// card (page/permissions.js).
const granted = "clipboard-read=(), payment=(), usb=(), serial=(), display-capture=()"

// common are the headers of all responses.
var common = map[string]string{
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Origin-Agent-Cluster":         "?1",
	"Permissions-Policy":           deny,
	"Cache-Control":                "no-store",
	"X-Dns-Prefetch-Control":       "off",
}

// confined is the Connection-Allowlist that blocks what a Content-Security-Policy does
// not cover (WebRTC, preconnect, navigation of the frame itself). The app page and
// direct.html frame other origins, so they cannot have it.
const confined = "(response-origin)"

// redirects follows the Connection-Allowlist where no service worker resolves redirects:
// none of them leaves the origin.
const redirects = ";redirects=allow"

// widened is the Connection-Allowlist of a canvas that may load from {quoted} too.
const widened = "(response-origin {quoted})"

// policies are the headers of each kind of response besides common. {app}, {content}
// and {sockets} are replaced by a handler's addresses, {sources}, {connections} and
// {quoted} by the origins that the operator allows a canvas.
var policies = map[kind]map[string]string{
	appFile: { // {scripts} and {styles} are the hashes of what is inline in index.html
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self' {scripts}", "style-src 'self' {styles}", "img-src 'self' data:",
			"connect-src 'self' {sockets}", "frame-src 'self' {content}", "frame-ancestors 'none'",
			"base-uri 'none'", "form-action 'none'", "object-src 'none'", "manifest-src 'self'"),
	},
	directFile: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self'", "style-src 'self'",
			"frame-src https: http://localhost:* http://127.0.0.1:*", "frame-ancestors 'self'",
			"base-uri 'none'", "form-action 'none'", "object-src 'none'"),
	},
	singleFile: { // inherited by its srcdoc
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'unsafe-inline' 'unsafe-eval' blob: data:", "style-src 'unsafe-inline' data:",
			"img-src data: blob:", "font-src data:", "media-src data: blob:", "frame-src 'none'",
			"base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"),
		"Connection-Allowlist": confined,
	},
	offlineFile: {
		"Content-Security-Policy": csp("default-src 'none'", "connect-src 'self'"),
		"Connection-Allowlist":    confined,
	},
	offlinePage: { // {script} and {style} are the hashes of its only script and style
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src {script}", "style-src {style}", "connect-src 'self'",
			"frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"),
		"Connection-Allowlist": confined,
	},
	outerFrame: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self'", "style-src 'unsafe-inline'", "frame-src 'self'",
			"worker-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors {app}"),
		"Connection-Allowlist": confined,
	},
	clearFrame: {
		"Content-Security-Policy": csp("default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors {app}"),
		"Connection-Allowlist":    confined,
	},
	outerFile: {
		"Content-Security-Policy": "default-src 'none'", // applies if a canvas starts the script as a worker
		"Connection-Allowlist":    confined,
	},
	answer: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data: {sources}",
			"style-src 'self' 'unsafe-inline' {sources}", "img-src 'self' data: blob: {sources}", "font-src 'self' data: {sources}",
			"media-src 'self' data: blob: {sources}", "connect-src 'self' data: blob: {connections}", "worker-src 'self' blob:",
			"frame-src 'self' blob: data:", "object-src 'none'", "base-uri 'self'", "form-action 'self'"),
		"Connection-Allowlist": widened,
	},
}

func csp(directives ...string) string { return strings.Join(directives, "; ") }

// addresses are the values for the policies' placeholders.
type addresses struct {
	app     []string   // app origins that may frame a content host
	content string     // content origins as a CSP source; "" if there are none
	sockets string     // WebSocket origins of the app
	allowed allow.List // what a canvas may load from besides its own origin
}

// headers returns the headers of a kind of response.
func (a addresses) headers(k kind) map[string]string {
	fill := strings.NewReplacer("{app}", strings.Join(a.app, " "), "{content}", a.content, "{sockets}", a.sockets, "{scripts}", index().scripts, "{styles}", index().styles,
		"{sources}", a.allowed.Sources(), "{connections}", a.allowed.Connections(), "{quoted}", a.allowed.Quoted())
	row := maps.Clone(common)
	for name, value := range policies[k] {
		row[name] = strings.ReplaceAll(strings.ReplaceAll(fill.Replace(value), " ;", ";"), " )", ")")
	}
	if k == appFile || k == outerFrame || k == answer {
		row["Permissions-Policy"] = granted
	}
	if k == clearFrame {
		row["Clear-Site-Data"] = a.stored()
	}
	if (k == outerFrame || k == clearFrame) && a.apart() {
		delete(row, "Origin-Agent-Cluster")
	}
	return row
}

// stored is the Clear-Site-Data of what a canvas stores. Below a domain it has no cookies,
// because all canvases of the domain would lose theirs.
func (a addresses) stored() string {
	if a.apart() {
		return `"storage", "cookies"`
	}
	return `"storage"`
}

// apart reports whether each content origin is a separate site, as names below
// localhost are: the browser then gives each a process. An Origin-Agent-Cluster header
// would put the frame in another process than its service worker, which cannot have
// the header, and the mount would wait for a second process. Below a domain all
// canvases are one site, and only the header separates them.
func (a addresses) apart() bool {
	sources := strings.Fields(a.content)
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(source string) bool {
		_, host, _ := strings.Cut(source, "://")
		name, _, _ := strings.Cut(host, ":")
		return name != "*.localhost"
	})
}

// setHeaders sets headers on a response, in a stable order.
func setHeaders(w http.ResponseWriter, row map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(row)) {
		w.Header().Set(name, row[name])
	}
}
