package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestAnnouncedOnce: a screen reader announces a problem once, while its countdown runs.
func TestAnnouncedOnce(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	e.gone()
	p.Wait(t, `!document.getElementById("banner").hidden`)
	webtest.Eval[any](t, p, `void (() => {
		window.said = window.counted = 0;
		const see = (selector, fn) => new MutationObserver(fn).observe(document.querySelector(selector), { subtree: true, childList: true, characterData: true });
		see("#banner [role=alert]", () => said++);
		see("#banner span", () => counted++);
	})()`)
	p.Wait(t, `counted > 2`)
	if n := webtest.Eval[int](t, p, "said"); n != 0 {
		t.Errorf("it was announced %d more times", n)
	}
}

// TestFocusMoves: when the focused element is removed, the focus goes where the next
// key does no harm.
func TestFocusMoves(t *testing.T) {
	e := start(t, nil, helloSite("a"), helloSite("b"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	webtest.Eval[any](t, p, `document.querySelector(".card iframe").focus()`)
	if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "a"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `document.querySelectorAll(".card").length === 1`)
	if got := webtest.Eval[string](t, p, `document.activeElement.id`); got != "canvases" {
		t.Errorf("an agent closed the canvas that was typed in: the focus is on %q", got)
	}
	e.gone()
	p.Wait(t, `document.querySelector("#banner:not([hidden]) button")`)
	webtest.Eval[any](t, p, `document.querySelector("#banner button").focus()`)
	e.back(t)
	p.Wait(t, `document.getElementById("banner").hidden`)
	if got := webtest.Eval[string](t, p, `document.activeElement.id`); got != "canvases" {
		t.Errorf("the host reconnected while its button had the focus: the focus is on %q", got)
	}
	leaves := start(t, nil, site{id: "a", files: map[string]string{"index.html": `<script>location = "http://127.0.0.1:9/"</script>`}})
	p = webtest.Start(t).Open(t, leaves.link)
	p.Wait(t, `document.querySelector(".retry:not([hidden])")?.checkVisibility()`)
	webtest.Eval[any](t, p, `document.querySelector(".retry").focus()`)
	p.Keys(t, "\r")
	p.Wait(t, `document.activeElement.localName === "iframe"`)
}
