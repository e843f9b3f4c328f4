package web_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// waitAcross waits for an expression across navigations of the page, each of which ends
// what is evaluated there.
func waitAcross(t *testing.T, p *webtest.Page, expression string) {
	t.Helper()
	for late := time.Now().Add(2 * webtest.Timeout); !p.WaitAtMost(5*time.Second, expression); {
		if time.Now().After(late) {
			p.Wait(t, expression)
		}
	}
}

// offlineReady waits until the browser has the page's service worker.
func offlineReady(t *testing.T, p *webtest.Page) {
	t.Helper()
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
	webtest.Eval[bool](t, p, `navigator.serviceWorker.ready.then(({ active }) => new Promise((done) => {
		const ask = () => active.state === "activated" ? done(true) : setTimeout(ask, 25);
		ask();
	}))`)
}

// TestOffline: a page that is opened while the host is unreachable says so in the chosen
// theme, and opens when the host answers. Its service worker answers nothing else, stores
// nothing, and leaves if another program has the address.
func TestOffline(t *testing.T) {
	var foreign atomic.Bool
	e := start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if foreign.Load() {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte("<!doctype html><title>Another program</title>"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link+"&canvas=one")
	p.Resize(t, 390, 844)
	offlineReady(t, p)
	e.gone()
	for _, theme := range []string{"light", "dark"} {
		webtest.Eval[any](t, p, `void localStorage.setItem("theme", "`+theme+`")`)
		p.Navigate(t, e.origin+"/?"+theme+"#canvas=one") // the worker answers with 503
		waitAcross(t, p, `document.querySelector("h1")?.textContent === "The host cannot be reached." && document.documentElement.dataset.colorMode === "`+theme+`"`)
		p.Wait(t, `location.hash === "#canvas=one" && document.documentElement.scrollWidth <= innerWidth && document.getElementById("try").getBoundingClientRect().height >= 32`)
		save(t, "unreachable-390-"+theme, p)
	}
	if got := webtest.Eval[string](t, p, `Promise.all([caches.keys().then((k) => k.length), ...["./", "healthz", "app.js"].map((url) => fetch(url).then((r) => r.status, () => "failed"))]).then(String)`); got != "0,failed,failed,failed" {
		t.Errorf("caches, and requests while the host is unreachable: %s", got)
	}
	e.back(t)
	waitAcross(t, p, `document.getElementById("connection")?.textContent === "Connected" && location.hash === "#canvas=one"`)
	shown(t, p, 1)
	foreign.Store(true)
	p.Navigate(t, e.origin+"/?foreign")
	p.Wait(t, `document.title === "Another program"`)
	webtest.Eval[bool](t, p, `new Promise((done) => {
		const ask = () => navigator.serviceWorker.getRegistration().then((r) => r ? setTimeout(ask, 25) : done(true));
		ask();
	})`)
}
