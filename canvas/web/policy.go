package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// kind is a kind of response: each has one row of headers in policies.
type kind string

const (
	appFile    kind = "app"    // the app page and everything it loads
	directFile kind = "direct" // the page around a direct url
	singleFile kind = "single" // the opaque page that holds a canvas where there is no service worker
	outerFrame kind = "frame"  // the document of a content host that holds the canvas
	outerFile  kind = "asset"  // what that document and a canvas load of ours
	answer     kind = "answer" // everything else on a content host, made by the service worker or by us
)

// deny is the Permissions-Policy of every response: a canvas never gets these,
// and the app page, which could pass them on, has none to give.
const deny = "camera=(), microphone=(), geolocation=(), clipboard-read=(), payment=(), usb=(), serial=(), display-capture=()"

// common is what every response carries, of whatever kind.
var common = map[string]string{
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Origin-Agent-Cluster":         "?1",
	"Permissions-Policy":           deny,
	"Cache-Control":                "no-store",
	"X-Dns-Prefetch-Control":       "off",
}

// confined closes what a Content-Security-Policy does not reach (WebRTC,
// preconnect, navigation of the frame itself). The app page and direct.html do
// without: they frame other origins.
const confined = "(response-origin)"

// policies is every header of every kind of response, as data; {app}, {content}
// and {sockets} are filled in for the addresses that a handler was made for.
var policies = map[kind]map[string]string{
	appFile: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
			"connect-src 'self' {sockets}", "frame-src 'self' {content}", "frame-ancestors 'none'",
			"base-uri 'none'", "form-action 'none'", "object-src 'none'"),
	},
	directFile: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self'", "style-src 'self'",
			"frame-src https: http://localhost:* http://127.0.0.1:*", "frame-ancestors 'self'",
			"base-uri 'none'", "form-action 'none'", "object-src 'none'"),
	},
	singleFile: { // the srcdoc in it inherits it
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'unsafe-inline' 'unsafe-eval' blob:", "style-src 'unsafe-inline' data:",
			"img-src data: blob:", "font-src data:", "media-src data: blob:", "frame-src 'none'",
			"base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"),
		"Connection-Allowlist": confined,
	},
	outerFrame: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self'", "style-src 'unsafe-inline'", "frame-src 'self'",
			"worker-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors {app}"),
		"Connection-Allowlist": confined,
	},
	outerFile: {
		"Content-Security-Policy": "default-src 'none'", // holds where one is started as a worker
		"Connection-Allowlist":    confined,
	},
	answer: {
		"Content-Security-Policy": csp(
			"default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
			"style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self' data:",
			"media-src 'self' data: blob:", "connect-src 'self' data: blob:", "worker-src 'self' blob:",
			"frame-src 'self' blob: data:", "object-src 'none'", "base-uri 'self'", "form-action 'self'"),
		"Connection-Allowlist": confined,
	},
}

func csp(directives ...string) string { return strings.Join(directives, "; ") }

// addresses are what the policies name: of one app origin and its content hosts.
type addresses struct {
	app     []string // app origins that may frame a content host
	content string   // content origins as a CSP source; "" where there are none
	sockets string   // WebSocket origins of the app
}

// headers fills the row of a kind in.
func (a addresses) headers(k kind) map[string]string {
	fill := strings.NewReplacer("{app}", strings.Join(a.app, " "), "{content}", a.content, "{sockets}", a.sockets)
	row := maps.Clone(common)
	for name, value := range policies[k] {
		row[name] = strings.ReplaceAll(fill.Replace(value), " ;", ";")
	}
	if k == outerFrame && a.apart() {
		delete(row, "Origin-Agent-Cluster")
	}
	return row
}

// apart reports whether every content origin is a site of its own, as names below
// localhost are: a process of its own without being asked for. A frame that does
// ask gets one that its service worker, which cannot ask, does not share, and
// waits for a second process to start. Below a domain, where all canvases are one
// site, asking keeps them apart.
func (a addresses) apart() bool {
	sources := strings.Fields(a.content)
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(source string) bool {
		_, host, _ := strings.Cut(source, "://")
		name, _, _ := strings.Cut(host, ":")
		return name != "*.localhost"
	})
}

// setHeaders puts a filled row on a response.
func setHeaders(w http.ResponseWriter, row map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(row)) {
		w.Header().Set(name, row[name])
	}
}
