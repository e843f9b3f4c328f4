package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// observation is a visible effect of a missing header: js is true without the header
// and false with it.
type observation struct {
	without strip
	where   string // the viewpoint: app, frame, canvas, direct or foreign
	js      string
}

// inline runs a script in window w that a policy would block.
const inline = `((w) => { const s = w.document.createElement("script"); s.textContent = "window.ran = true"; (w.document.body ?? w.document.documentElement).append(s); return w.ran === true })`

// loads is true if an element of window w loads.
const loads = `((w, tag, src) => new Promise((say) => { const e = w.document.createElement(tag); e.onload = () => say(true); e.onerror = () => say(false); e.src = src; w.document.body.append(e) }))`

// cached is true if the browser cached a response of the page.
const cached = `((w, path) => w.fetch(path).then(() => w.fetch(path, { cache: "only-if-cached", mode: "same-origin" })).then((r) => r.ok, () => false))`

// win is the canvas's window, as seen by its outer frame.
const win = `document.querySelector("iframe").contentWindow`

// framed is a new frame within the canvas, once loaded.
const framed = `((path) => new Promise((loaded) => { const f = ` + document + `.createElement("iframe"); f.onload = () => loaded(f.contentWindow); f.src = path; ` + document + `.body.append(f) }))`

var observations = []observation{
	{"app: Content-Security-Policy", "app", inline + `(window)`},
	{"app: X-Content-Type-Options", "app", loads + `(window, "script", "/app.css")`},
	{"app: Referrer-Policy", "frame", `document.referrer !== ""`},
	{"app: Cross-Origin-Resource-Policy", "foreign", loads + `(window, "img", "APP/favicon.svg")`},
	{"app: Permissions-Policy", "app", `document.featurePolicy.allowsFeature("usb")`},
	{"app: Cache-Control", "app", cached + `(window, "/app.js")`},
	{"direct: Content-Security-Policy", "direct", inline + `(window)`},
	{"direct: Permissions-Policy", "direct", `document.featurePolicy.allowsFeature("camera")`},
	{"frame: Content-Security-Policy", "frame", inline + `(window)`},
	{"frame: Referrer-Policy", "canvas", document + `.referrer !== ""`},
	{"asset: Content-Security-Policy", "canvas", framed + `("/.ahp/canvas.js").then(` + inline + `)`},
	{"asset: Cross-Origin-Resource-Policy", "foreign", loads + `(window, "script", "CONTENT/.ahp/shim.js")`},
	{"answer: Content-Security-Policy", "canvas", `((w) => new Promise((say) => { try { const k = new w.Worker("data:text/javascript,postMessage(1)"); k.onmessage = () => say(true); k.onerror = () => say(false); } catch { say(false); } }))(` + win + `)`},
	{"answer: X-Content-Type-Options", "canvas", loads + `(` + win + `, "script", "/text.txt")`},
	{"answer: Referrer-Policy", "canvas", framed + `("/text.txt").then((w) => w.document.referrer !== "")`},
	{"answer: Connection-Allowlist", "attack", "location"},
	{"frame: Connection-Allowlist", "attack", "outer frame frames"},
}

// unobserved are headers without a visible effect in this Chromium, each with the
// reason. Other browsers or versions may differ.
var unobserved = map[strip]string{
	"app: Origin-Agent-Cluster":            "Chromium keys agents by origin by default",
	"direct: Origin-Agent-Cluster":         "Chromium keys agents by origin by default",
	"single: Origin-Agent-Cluster":         "its origin is opaque, so nothing shares it",
	"single: X-Content-Type-Options":       "it is a document of the right type",
	"single: Referrer-Policy":              "its policy lets it load nothing that could have a referrer",
	"single: Cross-Origin-Resource-Policy": "it is for resources, and this is a document",
	"single: Permissions-Policy":           "a frame of an opaque origin with allow=\"\" has none of them anyway",
	"single: Cache-Control":                "it holds no secret and is the same for every canvas",
	"single: Content-Security-Policy":      "TestSingleAttacks takes it away",
	"single: Connection-Allowlist":         "TestSingleAttacks takes it away",
	"answer: Origin-Agent-Cluster":         "Chromium keys agents by origin by default",
	"asset: Origin-Agent-Cluster":          "it is for documents",
	"direct: X-Content-Type-Options":       "it is a document of the right type",
	"frame: X-Content-Type-Options":        "it is a document of the right type",
	"asset: X-Content-Type-Options":        "they are scripts of the right type",
	"direct: Referrer-Policy":              "the frame in it has a policy of its own",
	"asset: Referrer-Policy":               "they ask for nothing",
	"direct: Cross-Origin-Resource-Policy": "it is for resources, and this is a document",
	"frame: Cross-Origin-Resource-Policy":  "it is for resources, and this is a document",
	"answer: Cross-Origin-Resource-Policy": "only the canvas's own origin reaches its service worker",
	"frame: Permissions-Policy":            "a frame of another origin with allow=\"\" has none of them anyway",
	"answer: Permissions-Policy":           "a frame of another origin with allow=\"\" has none of them anyway",
	"asset: Permissions-Policy":            "it is for documents",
	"direct: Cache-Control":                "it holds no secret and is loaded with every direct url",
	"frame: Cache-Control":                 "without it the browser would keep a file of another release",
	"asset: Cache-Control":                 "without it the browser would keep a file of another release",
	"answer: Cache-Control":                "what a service worker makes is in no HTTP cache",
	"asset: Connection-Allowlist":          "their own policy allows no connection at all",
	"app: X-Dns-Prefetch-Control":          noNames,
	"direct: X-Dns-Prefetch-Control":       noNames,
	"single: X-Dns-Prefetch-Control":       noNames,
	"frame: X-Dns-Prefetch-Control":        noNames,
	"answer: X-Dns-Prefetch-Control":       noNames,
	"asset: X-Dns-Prefetch-Control":        "it is for documents",
}

// noNames is the reason of headers for other browsers.
const noNames = "Chromium looks up no names here; TestNames sees it in Firefox"

// TestHeadersMatter removes one header at a time.
func TestHeadersMatter(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	intact := newStage(t, b)
	for _, o := range observations {
		t.Run(string(o.without), func(t *testing.T) {
			if o.where == "attack" {
				row := attacks[slices.IndexFunc(attacks, func(a attack) bool { return a.name == o.js })]
				assault(t, b, asFiles, []attack{row}, []strip{o.without}, func(_ *webtest.Page, _ []attack, canaries []*canary) {
					if !sung(canaries[0], webtest.Timeout/2) {
						t.Errorf("the attack %q still reaches nothing", o.js)
					}
				})
				return // TestAttacksReachNothing shows that it fails otherwise
			}
			if intact.sees(t, o) {
				t.Error("seen although the header was sent")
			}
			if !newStage(t, b, o.without).sees(t, o) {
				t.Error("not seen although the header is missing")
			}
		})
	}
}

// TestAllHeadersAreObserved: each header is observed, or listed with a reason.
func TestAllHeadersAreObserved(t *testing.T) {
	h := local(t)
	sent := map[strip]bool{}
	for kind, at := range map[string]string{
		"app": "localhost:8080/", "direct": "localhost:8080/direct.html", "frame": contentHost + "/.ahp/frame.html",
		"single": "localhost:8080/single.html", "asset": contentHost + "/.ahp/canvas.js", "answer": contentHost + "/absent",
	} {
		host, path, _ := strings.Cut(at, "/")
		for name := range get(h, "GET", host, "/"+path, nil).Header {
			if !strings.HasPrefix(name, "Content-Type") && name != "Content-Length" {
				sent[strip(kind+": "+name)] = true
			}
		}
	}
	seen := map[strip]bool{}
	for _, o := range observations {
		seen[o.without] = true
	}
	for s := range unobserved {
		if seen[s] {
			t.Errorf("%s is observed, and listed as not observed", s)
		}
		seen[s] = true
	}
	for _, s := range slices.Sorted(maps.Keys(sent)) {
		if !seen[s] {
			t.Errorf("%s is neither observed nor listed", s)
		}
		delete(seen, s)
	}
	for s := range seen {
		t.Errorf("%s is looked at, and not sent", s)
	}
}

// stage is a page with one canvas, and a page of another site.
type stage struct {
	app, frame, direct, foreign *webtest.Page
	names                       *strings.Replacer
}

func newStage(t *testing.T, b *webtest.Browser, strips ...strip) *stage {
	t.Helper()
	e := start(t, without(strips...), site{id: "one", title: "One", files: map[string]string{
		"index.html": "<!doctype html><title>one</title><body>x", "text.txt": "window.text = 1",
	}})
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><body>")
	}))
	t.Cleanup(foreign.Close)
	s := &stage{app: b.Open(t, e.link), direct: b.Open(t, e.origin+"/direct.html"), foreign: b.Open(t, foreign.URL)}
	s.frame = shown(t, s.app, 1)[0]
	s.names = strings.NewReplacer("APP", e.origin, "CONTENT", webtest.Eval[string](t, s.frame, "location.origin"))
	return s
}

func (s *stage) sees(t *testing.T, o observation) bool {
	t.Helper()
	page := map[string]*webtest.Page{"app": s.app, "frame": s.frame, "canvas": s.frame, "direct": s.direct, "foreign": s.foreign}[o.where]
	return webtest.Eval[bool](t, page, s.names.Replace(o.js))
}
