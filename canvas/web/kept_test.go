package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestNothingIsKept: a browser in which a site may keep nothing, or nothing more,
// shows its canvases; the token leaves the address bar there too.
func TestNothingIsKept(t *testing.T) {
	for name, refusal := range map[string]string{
		"refused": `for (const s of ["localStorage", "sessionStorage"]) Object.defineProperty(window, s, { get() { throw new DOMException("denied", "SecurityError"); } });`,
		"full":    `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };`,
	} {
		t.Run(name, func(t *testing.T) {
			refused := func(next http.Handler) http.Handler { return rewritten(next, "/first.js", "// @ts-check", refusal) }
			p := webtest.Start(t).Open(t, start(t, refused, helloSite("one"), helloSite("two")).link)
			shown(t, p, 2)
			if got := webtest.Eval[string](t, p, `location.href`); strings.Contains(got, viewToken) {
				t.Errorf("the address bar still has the token: %s", got)
			}
			p.Click(t, "#theme")
			p.Click(t, "#theme")
			p.Wait(t, `document.documentElement.dataset.colorMode === "dark" && document.getElementById("theme").textContent === "Theme: dark"`)
			focus(t, p, "Hello one", ".later")
			p.Keys(t, "\r")
			p.Wait(t, titles+` === "two,one two,one"`)
		})
	}
}
