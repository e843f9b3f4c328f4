package mcpapp_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// elsewhere is a server of another origin that notes each request.
type elsewhere struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // paths
}

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.asked = append(e.asked, strings.TrimPrefix(r.URL.Path, "/"))
		e.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.URL.Path {
		case "/script", "/module":
			w.Header().Set("Content-Type", "text/javascript")
		case "/style":
			w.Header().Set("Content-Type", "text/css")
		}
	}))
	e.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that a browser leaves
	e.StartTLS()
	t.Cleanup(e.Close)
	return e
}

// reached returns the requests since the last call, sorted and each once.
func (e *elsewhere) reached() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := slices.Clone(e.asked)
	e.asked = nil
	slices.Sort(got)
	return slices.Compact(got)
}

// leaks is a View that tries to reach each of two addresses in every way that it
// and the wrapper have.
const leaks = `<!doctype html><meta charset="utf-8"><title>Leaks</title><body><script>
const U = "ORIGIN/", W = U.replace("https:", "wss:");
const wait = (e) => new Promise((go) => { for (const n of ["load", "error", "close", "open", "loadeddata"]) e.addEventListener?.(n, go); setTimeout(go, 1500); });
const add = (d, tag, props, more = {}) => { const e = d.createElement(tag); Object.assign(e, props); for (const [n, v] of Object.entries(more)) e.setAttribute(n, v); (d.body ?? d.documentElement).append(e); return wait(e); };
const html = (d, text) => { const b = d.createElement("div"); b.innerHTML = text; d.body.append(b); return wait(b); };
const send = (d, how) => { const f = d.createElement("form"); f.action = U + how; f.method = "post"; d.body.append(f); f.submit(); };
const both = [["", window], ["outer-", parent]];
const ways = both.flatMap(([who, w]) => { const d = w.document, at = (way) => U + who + way; return [
	() => add(d, "img", { src: at("img") }), () => add(d, "script", { src: at("script") }), () => add(d, "link", { rel: "stylesheet", href: at("style") }), () => add(d, "audio", { src: at("audio"), preload: "auto" }),
	() => w.fetch(at("fetch")), () => w.fetch(at("fetch"), { mode: "no-cors", keepalive: true, method: "POST" }), () => new w.FontFace("x", "url(" + at("font") + ")").load(),
	() => wait(new w.WebSocket(W + who + "socket")), () => wait(new w.EventSource(at("events"))), () => w.navigator.sendBeacon(at("beacon"), "x"),
	() => { const x = new w.XMLHttpRequest(); x.open("GET", at("xhr")); x.send(); return wait(x); }, () => w.eval("import('" + at("module") + "')"),
	() => add(d, "iframe", { src: at("frame") }), () => add(d, "object", { data: at("object") }), () => add(d, "embed", { src: at("embed") }), () => add(d, "iframe", { srcdoc: '<img src="' + at("srcdoc") + '">' }),
	() => html(d, '<svg><image href="' + at("svg") + '" width=9 height=9 /></svg>'), () => html(d, '<div style="background:url(' + at("css") + ')">x</div>'), () => html(d, '<video poster="' + at("poster") + '">'),
	() => add(d, "link", { rel: "prefetch", href: at("prefetch") }), () => add(d, "link", { rel: "preconnect", href: at("preconnect") }), () => add(d, "link", { rel: "modulepreload", href: at("modulepreload") }),
	() => w.open(at("window")), () => { const a = d.createElement("a"); a.href = "#x"; a.ping = at("ping"); d.body.append(a); a.click(); },
	() => { const a = d.createElement("a"); a.href = at("top"); a.target = "_top"; d.body.append(a); a.click(); },
	() => new Promise((go) => { const k = new w.Worker(w.URL.createObjectURL(new w.Blob(["fetch('" + at("worker") + "').catch(() => {}).finally(() => postMessage(1))"]))); k.onmessage = k.onerror = go; setTimeout(go, 1500); }),
	() => { w.top.location = at("topnav"); }, () => html(d, '<base href="' + at("base/") + '"><img src="x.png">'),
]; });
(async () => {
	await Promise.allSettled(ways.map(async (way) => way()));
	parent.document.body.dataset.tried = "1";
	document.body.dataset.tried = "1";
})();
</script>`

// lastLeaks leave the View's document, one after the other.
const lastLeaks = `(() => { const d = document.querySelector("iframe").contentDocument, w = d.querySelector("iframe").contentWindow;
	try { w.eval('send(document, "form")'); } catch {}
	try { w.eval('location = U + "location"'); } catch {}
	return new Promise((go) => setTimeout(() => go(true), 1000)); })()`

// TestNetwork: a View that declares origins reaches none of them unless the operator allows it,
// then that one alone, and only in the ways that it declares.
func TestNetwork(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		b := webtest.Start(t, "ignore-certificate-errors")
		for name, allowed := range map[string]bool{"nothing is allowed": false, "one origin is allowed": true} {
			if !allowed && os.Getenv("AHP_LONG") == "" {
				continue // TestNoNetwork
			}
			t.Run(name, func(t *testing.T) {
				one, other := newElsewhere(t), newElsewhere(t)
				for _, target := range []*elsewhere{one, other} {
					e := start(t, func(o *mcpapp.Options, ho *host.Options) {
						if allowed {
							o.Allowed = func(string, string) []string { return []string{one.URL} }
							ho.AllowOrigins = map[string][]string{"fake": {one.URL}}
						}
					})
					s := e.fake("ok")
					s.Env["FAKE_PAGE"] = e.pageOf(t, strings.ReplaceAll(leaks, "ORIGIN", target.URL))
					s.Env["FAKE_CSP"] = fmt.Sprintf(`{"connectDomains":[%[1]q,%[2]q],"resourceDomains":[%[1]q,%[2]q]}`, one.URL, other.URL)
					e.add(s)
					e.mustOpen("show", "")
					v := e.view(b)
					if !v.frame.WaitAtMost(webtest.Timeout, `document.querySelector("iframe").contentDocument.body?.dataset.tried === "1"`) {
						t.Fatal("the View did not try")
					}
					webtest.Eval[bool](t, v.frame, lastLeaks)
					got := target.reached()
					if !allowed || target == other {
						if len(got) > 0 {
							t.Errorf("reached by %v", got)
						}
					} else {
						for _, way := range []string{"img", "script", "style", "fetch"} {
							if !slices.Contains(got, way) {
								t.Errorf("not reached by %s: %v", way, got)
							}
						}
						for _, way := range []string{"frame", "object", "embed", "form", "location", "window", "top", "topnav"} {
							if slices.Contains(got, way) || slices.Contains(got, "outer-"+way) {
								t.Errorf("reached by %s", way)
							}
						}
					}
					v.tab.Close()
				}
			})
		}
	})
}

// thief is a View of a server that may reach nothing. It goes to the content host of another
// server, whose name has the label of that server's origins, in every way that it and its
// wrapper have.
const thief = `<!doctype html><meta charset="utf-8"><title>Thief</title><body><script>
const to = location.protocol + "//" + location.host.replace(/^[^-]*-/, "LABEL-");
const loaded = (e) => new Promise((go) => { e.onload = e.onerror = go; setTimeout(go, 2000); });
const ways = [["view", window], ["wrapper", parent]].flatMap(([who, w]) => { const d = w.document, at = (way) => "ORIGIN/" + who + "-" + way; return [
	...["/", "/-/view", "/.ahp/frame.html", "/.ahp/canvas.js"].map((path) => async () => {
		const f = d.createElement("iframe"); f.src = to + path; const done = loaded(f); d.body.append(f); await done;
		f.contentWindow.postMessage({ "x-ahp": "load", path: "/", html: '<img src="' + at("message") + '">' }, "*");
		try { f.contentWindow.eval("fetch('" + at("framed") + "')"); } catch {}
		f.contentWindow.location = to + "/";
	}),
	() => w.navigator.serviceWorker?.register(to + "/.ahp/sw.js"),
	() => w.navigator.serviceWorker?.register("/.ahp/sw.js?" + encodeURIComponent("ORIGIN")),
	() => w.navigator.serviceWorker?.controller?.postMessage({ "x-ahp": "allowed", origins: ["ORIGIN"] }),
	() => new Promise((go) => { const k = new w.Worker(to + "/.ahp/sw.js"); k.onerror = k.onmessage = go; setTimeout(go, 1000); }),
	() => w.fetch(to + "/.ahp/frame.html").then((r) => r.text()).then((t) => { d.body.insertAdjacentHTML("beforeend", t); }),
	() => w.open(to + "/"), () => w.fetch(at("fetch")), () => loaded(d.body.appendChild(Object.assign(d.createElement("img"), { src: at("img") }))),
]; });
(async () => {
	await Promise.race([Promise.allSettled(ways.map(async (way) => way())), new Promise((go) => setTimeout(go, 10000))]);
	parent.document.body.dataset.tried = "1";
})();
</script>`

// TestOriginsOfAnotherServer: what one server's pages may reach is out of reach for the pages
// of another server, also at the content host of the first.
func TestOriginsOfAnotherServer(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		canary := newElsewhere(t)
		lists, err := allow.New(map[string][]string{"fake": {canary.URL}})
		if err != nil {
			t.Fatal(err)
		}
		e := start(t, func(o *mcpapp.Options, ho *host.Options) {
			ho.AllowOrigins = map[string][]string{"fake": {canary.URL}}
			o.Allowed = func(server, canvasID string) []string { return lists.For(server, canvasID).Origins }
		})
		page := strings.NewReplacer("LABEL", lists.For("fake", "").Label(), "ORIGIN", canary.URL).Replace(thief)
		for name, text := range map[string]string{"fake": `<!doctype html><body><img src="` + canary.URL + `/own">`, "thief": page} {
			s := e.fake("ok")
			s.Name, s.Env["FAKE_PAGE"] = name, e.pageOf(t, text)
			s.Env["FAKE_CSP"] = fmt.Sprintf(`{"connectDomains":[%[1]q],"resourceDomains":[%[1]q],"frameDomains":[%[1]q]}`, canary.URL)
			e.add(s)
		}
		b := webtest.Start(t, "ignore-certificate-errors")
		for _, c := range []struct{ server, until, want string }{
			{"fake", `d?.querySelector("img")?.complete`, "own"},
			{"thief", `h.body.dataset.tried === "1"`, ""},
		} {
			args := canvas.OpenArgs{Session: host.DefaultSession, ExtensionID: c.server, CanvasID: "show", InstanceID: "show"}
			if _, err := e.host.Canvases().Open(t.Context(), args); err != nil {
				t.Fatal(err)
			}
			v := e.view(b)
			v.wait(c.until)
			v.eval(`(setTimeout(() => { w.location = "` + canary.URL + `/left"; }), 0)`)
			v.frame.WaitAtMost(webtest.Timeout, `new Promise((go) => setTimeout(() => go(true), 1000))`)
			if got := strings.Join(canary.reached(), " "); got != c.want {
				t.Errorf("%s reached the origin by %q, want %q", c.server, got, c.want)
			}
			v.tab.Close()
			if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "show"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
