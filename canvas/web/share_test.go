package web_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// choose opens the menu of the first card and chooses a line.
func choose(t *testing.T, p *webtest.Page, line string) {
	t.Helper()
	// At once, and again if the menu closed: a window that changes its size closes it.
	p.Wait(t, `(() => { document.querySelector(".card .more").click(); const b = [...document.querySelectorAll(".menu button")].find((b) => b.textContent === "`+line+`"); b?.click(); return Boolean(b); })()`)
}

// TestShare: a person saves a copy after seeing its name and size, and makes a link for
// someone who only sees.
func TestShare(t *testing.T) {
	s := helloSite("one")
	s.files["copy.json"] = `{"a":1}`
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	if err := e.handle("one").OfferCopy("my/data.json", "/copy.json"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `(document.querySelector(".card .more").click(), [...document.querySelectorAll(".menu button")].some((b) => b.textContent === "Save a copy…"))`)
	webtest.Eval[any](t, p, `[...document.querySelectorAll(".menu button")].find((b) => b.textContent === "Save a copy…").click()`)
	p.Wait(t, `document.querySelector(".ask p")?.textContent === "my_data.json, 7 bytes"`)
	webtest.Eval[any](t, p, `void (HTMLAnchorElement.prototype.click = function () { window.saved = this.download; })`)
	webtest.Eval[any](t, p, `document.querySelector(".ask button").click()`)
	p.Wait(t, `window.saved === "my_data.json" && !document.querySelector(".ask")`)

	webtest.Eval[any](t, p, `void (Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } }))`)
	choose(t, p, "Copy a link that only shows")
	p.Wait(t, `Boolean(window.copied)`)
	link := webtest.Eval[string](t, p, `window.copied`)
	if !strings.Contains(link, "invite=") || strings.Contains(link, viewToken) || !strings.HasSuffix(link, "&canvas=one") {
		t.Errorf("the link is %s", link)
	}
	guest := webtest.Start(t).Open(t, link)
	shown(t, guest, 1)
	p.Wait(t, `(document.dispatchEvent(new Event("visibilitychange")), document.getElementById("here")?.textContent === "Someone else is here")`)
	choose(t, guest, "Copy a link for someone")
	guest.Wait(t, `document.getElementById("notices").textContent.includes("No link was made")`)
	guest.Click(t, ".close")
	p.Wait(t, `document.querySelectorAll(".card").length === 1`)
	if open, err := e.host.Canvases().ListOpen("ahp-session:/default"); err != nil || len(open) != 1 {
		t.Errorf("after the close of someone who only sees: %d open, %v", len(open), err)
	}
}
