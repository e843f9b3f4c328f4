package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// leftover is one way in which a hostile document of a canvas can rule a later one on the
// same origin.
type leftover struct {
	name string
	// leave is what the first document does, an async function's body.
	leave string
	// check returns what rules the second document; "" for nothing.
	check string
	// without removes what stops it; nil if another test does.
	without func(next http.Handler) http.Handler
}

// cut removes a text from one file on its way to the browser, and puts another in its place.
func cut(path, old, text string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return rewritten(next, path, old, text) }
}

// both applies two changes.
func both(one, two func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return one(two(next)) }
}

// anyQuery serves the service worker under any query.
func anyQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.ahp/sw.js" && r.URL.RawQuery != "" {
			r.URL.RawQuery, r.RequestURI = "", "/.ahp/sw.js"
		}
		next.ServeHTTP(w, r)
	})
}

const (
	shares     = `onconnect = () => {}; new BroadcastChannel("alive").onmessage = (e) => e.target.postMessage("yes");`
	alive      = `return new Promise((go) => { const c = new BroadcastChannel("alive"); c.onmessage = () => go("a shared worker"); c.postMessage("?"); setTimeout(go, 1500, ""); })`
	controlled = `const frame = document.createElement("iframe"); frame.src = "/sub/page.html"; document.body.append(frame);
		await new Promise((go) => { frame.onload = go; });
		const found = (await navigator.serviceWorker.getRegistrations()).map((r) => r.scope.replace(location.origin, "") + " " + r.active?.scriptURL.replace(location.origin, "")).filter((r) => r !== "/ /.ahp/sw.js");
		const { controller } = frame.contentWindow.navigator.serviceWorker;
		return found.concat(controller?.scriptURL.endsWith("/.ahp/sw.js") ? [] : ["controlled by " + controller?.scriptURL]).join()`
	removes = `if (kept) await removeLeftovers(sw, alone);`
)

var leftovers = []leftover{
	{"narrower scope", `await navigator.serviceWorker.register("/.ahp/sw.js", { scope: "/sub/" })`, controlled,
		cut("/.ahp/frame.js", removes, "")},
	{"scope of the outer frame", `await navigator.serviceWorker.register("/.ahp/sw.js", { scope: "/.ahp/" })`, controlled, nil}, // see TestStorageLeftoverInTheWay
	{"query", `await navigator.serviceWorker.register("/.ahp/sw.js?mine", { scope: "/sub/" }).catch(() => {})`, controlled,
		both(anyQuery, cut("/.ahp/frame.js", removes, ""))},
	{"another script", `await navigator.serviceWorker.register("/evil.js", { scope: "/sub/" }).catch(() => {})`, controlled,
		both(cut("/.ahp/frame.js", removes, ""), evil)},
	{"shared worker", `try { new SharedWorker("/shared.js", { name: "s", extendedLifetime: true }); } catch {}`, alive,
		both(cut("/.ahp/shim.js", `Reflect.deleteProperty(globalThis, "SharedWorker");`, ""), cut("/.ahp/sw.js", `if (event.request.destination === "sharedworker")`, "if (false)"))},
	{"shared worker of a blob", "try { new SharedWorker(URL.createObjectURL(new Blob([`" + shares + "`])), { name: \"s\", extendedLifetime: true }); } catch {}", alive,
		cut("/.ahp/shim.js", `Reflect.deleteProperty(globalThis, "SharedWorker");`, "")},
	{"cache", `await (await caches.open("c")).put("/sub/page.html", new Response("forged"))`, `return (await (await fetch("/sub/page.html")).text()).includes("forged") ? "the cache" : ""`,
		cut("/.ahp/sw.js", "const before = cookiesSet;", "const before = cookiesSet; const kept = await caches.match(request.url); if (kept) return kept;")},
}

// evil serves a script of the canvas as a service worker, as if the host did.
func evil(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/evil.js" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(`onfetch = () => {}`))
	})
}

// ruled has a hostile document leave something, loads the page again, and returns what rules
// the second document of the canvas.
func ruled(t *testing.T, l leftover, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	e := start(t, wrap, site{id: "one", title: "One", files: map[string]string{
		"index.html": "<!doctype html><title>one</title><body>x", "shared.js": shares, "sub/page.html": "<!doctype html><title>sub</title>real",
	}})
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	inCanvas[any](t, frame, l.leave+`; await new Promise((go) => setTimeout(go, 300)); return 1`)
	p.Reload(t)
	return inCanvas[string](t, shown(t, p, 1)[0], l.check)
}

// TestAttackLeftovers: nothing that a hostile document leaves behind rules a later document of
// the canvas; without our protection it does.
func TestAttackLeftovers(t *testing.T) {
	t.Parallel()
	for i, l := range leftovers {
		t.Run(strings.ReplaceAll(l.name, " ", "-"), func(t *testing.T) {
			if got := ruled(t, l, nil); got != "" {
				t.Errorf("%s rules the later document", got)
			}
			if !long && i%2 == 1 {
				return // half of the controls are enough
			}
			if l.without != nil && ruled(t, l, l.without) == "" {
				t.Error("nothing rules it without the protection either: this attack proves nothing")
			}
		})
	}
}

// TestStorageLeftoverInTheWay: if another registration controls the outer frame all the same,
// the canvas is shown on an origin that is used once, and the card says so. Clearing ends that.
func TestStorageLeftoverInTheWay(t *testing.T) {
	e := start(t, cut("/.ahp/frame.js", removes, ""), counter("one"))
	p := webtest.Start(t).Open(t, e.link)
	inCanvas[any](t, shown(t, p, 1)[0], `await navigator.serviceWorker.register("/.ahp/sw.js", { scope: "/.ahp/" }); return 1`)
	origin := contentOrigin(t, p)
	p.Reload(t)
	p.Wait(t, `document.querySelector(".card .note").textContent.includes("is not available this time")`)
	shown(t, p, 1)[0].Wait(t, counted+` === "1"`)
	if contentOrigin(t, p) == origin {
		t.Error("the canvas is on the same origin")
	}
	choose(t, p, "Clear what it stored here")
	p.Wait(t, `document.querySelector(".card .note").hidden && localStorage.getItem("kept gone") === "[]"`)
}
