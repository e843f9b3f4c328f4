package web_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestPaintedBeforeModules: the page is painted before its modules have loaded, and in the
// theme that the person chose, also where the system has the other one.
func TestPaintedBeforeModules(t *testing.T) {
	var slow atomic.Bool
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	e := start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/page.js" && slow.Load() {
				<-released
			}
			next.ServeHTTP(w, r)
		})
	})
	t.Cleanup(release) // before the server's end, which waits for its requests
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
	p.Wait(t, `document.documentElement.dataset.colorMode === "dark" || void document.getElementById("theme").click()`)
	const ground = `getComputedStyle(document.body).backgroundColor`
	dark := webtest.Eval[string](t, p, ground)
	p.Wait(t, `[...document.querySelectorAll("meta[name=theme-color]")].every((m) => m.content === "`+dark+`")`)

	slow.Store(true)
	webtest.Eval[any](t, p, `void location.reload()`)
	waitAcross(t, p, `!document.body.dataset.connection && performance.getEntriesByName("first-contentful-paint").length === 1`)
	if got := webtest.Eval[string](t, p, ground); got != dark {
		t.Errorf("the ground is painted %s first, and then %s", got, dark)
	}
	release()
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
}
