package web_test

import (
	"net/http"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestLoadedWhileUnreachable: a page that failed to load because its provider or host was
// unreachable is loaded again when that is back.
func TestLoadedWhileUnreachable(t *testing.T) {
	a := newApp(t)
	a.page("/second", `<title>Second</title>`)
	e := start(t, nil, appSite("one", a))
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale)})
	p := webtest.Start(t).Open(t, e.link)
	frame := p.Frames(t, 1, webtest.ContentFrame)[0]
	frame.Wait(t, document+`.body?.innerText.includes("Status 503")`)
	e.update(t, "one", canvas.Updated{Availability: new(session.Ready)})
	frame.Wait(t, document+`.title === "App"`)

	e.gone()
	p.Wait(t, `!document.getElementById("banner").hidden`)
	inCanvas[any](t, frame, `location.href = "/second"`)
	frame.Wait(t, document+`.body?.innerText.includes("Status 503")`)
	e.back(t)
	frame.Wait(t, document+`.title === "Second"`)

	// A page that has loaded is kept.
	webtest.Eval[any](t, frame, `void(`+document+`.mark = 1)`)
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale)})
	p.Wait(t, `document.querySelector("iframe").inert`)
	e.update(t, "one", canvas.Updated{Availability: new(session.Ready)})
	p.Wait(t, `!document.querySelector("iframe").inert`)
	inCanvas[any](t, frame, `await fetch("/echo")`)
	if webtest.Eval[int](t, frame, `(`+document+`.mark ?? 0)`) != 1 {
		t.Error("a page that was there was loaded again")
	}
}

// TestMountedWhileUnreachable: a canvas whose frame could not load because the host was
// unreachable is shown when the host is back.
func TestMountedWhileUnreachable(t *testing.T) {
	cut := make(chan bool, 1)
	away := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/.ahp/frame.html" {
				select {
				case cut <- true:
					panic(http.ErrAbortHandler)
				default:
				}
			}
			next.ServeHTTP(w, r)
		})
	}
	e := start(t, away, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, words+`.includes("The frame of this canvas did not load.")`)
	e.gone()
	p.Wait(t, `!document.getElementById("banner").hidden`)
	e.back(t)
	shown(t, p, 1)
}
