package web_test

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// press focuses a control of the page and presses Enter.
func press(t *testing.T, p *webtest.Page, selector string) {
	t.Helper()
	p.Wait(t, `document.querySelector("`+selector+`")?.checkVisibility()`)
	webtest.Eval[any](t, p, `document.querySelector("`+selector+`").focus()`)
	p.Wait(t, `document.activeElement === document.querySelector("`+selector+`")`)
	p.Keys(t, "\r")
}

// menuLine opens a canvas's menu by keyboard and goes to a line of it.
func menuLine(t *testing.T, p *webtest.Page, title, line string) {
	t.Helper()
	focus(t, p, title, ".more")
	p.Keys(t, "\r")
	p.Wait(t, `document.activeElement.closest(".menu")`)
	lines := webtest.Eval[[]string](t, p, `[...document.querySelectorAll(".menu button")].map((b) => b.textContent)`)
	for range slices.Index(lines, line) {
		p.Keys(t, kb.ArrowDown)
	}
	p.Wait(t, `document.activeElement.textContent === "`+line+`"`)
}

// TestShellByKeyboard: a person opens a canvas, switches to another one, maximizes and leaves
// that with Escape, uses a menu, and closes a canvas and undoes that.
func TestShellByKeyboard(t *testing.T) {
	e := start(t, nil, helloSite("one"), helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	press(t, p, "#open-canvas")
	p.Wait(t, `document.getElementById("gallery").open`)
	press(t, p, "[aria-label='Open Page']")
	p.Wait(t, `document.querySelectorAll(".card").length === 3 && !document.getElementById("gallery").open`)
	p.Wait(t, `[...document.querySelectorAll(".card .words")].every((w) => w.hidden)`)

	focus(t, p, "Hello one", ".maximize")
	p.Keys(t, "\r")
	p.Wait(t, visible+` === "one"`)
	press(t, p, "#switch")
	p.Wait(t, `document.getElementById("switcher").open && document.activeElement.id === "find"`)
	p.Keys(t, "hello two\r")
	p.Wait(t, visible+` === "two" && location.hash.endsWith("canvas=two")`)
	p.Wait(t, `document.activeElement.localName === "iframe"`)
	p.KeysAtFocus(t, kb.Escape)
	p.Wait(t, `document.querySelectorAll(".card:not([hidden])").length === 3`)

	menuLine(t, p, "Hello one", "Put away")
	p.Keys(t, kb.Escape)
	p.Wait(t, `!document.querySelector(".menu") && document.activeElement.matches(".more")`)
	menuLine(t, p, "Hello one", "Close")
	p.Keys(t, "\r")
	p.Wait(t, `document.querySelectorAll(".card:not([data-closing=here])").length === 2 && document.querySelector(".undo:not([hidden])")`)
	press(t, p, ".undo .undo-close")
	p.Wait(t, `document.querySelectorAll(".card:not([data-closing=here])").length === 3 && !document.querySelector(".undo:not([hidden])")`)
}

// TestFunctionsByKeyboard: a person goes to the canvas that waits, shows a canvas beside the
// others from the list, changes the theme, filters the activity and gives a name.
func TestFunctionsByKeyboard(t *testing.T) {
	e := start(t, nil, manySites(2)...)
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	focus(t, p, "Hello c00", ".maximize")
	p.Keys(t, "\r")
	p.Wait(t, visible+` === "c00"`)
	if err := e.handle("c01").Attention("Approve the release"); err != nil {
		t.Fatal(err)
	}
	press(t, p, ".needs button")
	p.Wait(t, visible+` === "c01"`)
	press(t, p, "#switch")
	p.Wait(t, `document.getElementById("switcher").open && document.activeElement.id === "find"`)
	press(t, p, "[aria-label='Show “Hello c00” beside the others']")
	p.Wait(t, `!document.getElementById("switcher").open && (`+visible+`).split(",").length === 2`)
	press(t, p, "#theme")
	p.Wait(t, `document.documentElement.dataset.colorMode === "light"`)
	press(t, p, "#timeline summary")
	press(t, p, "#timeline .filters button:last-child")
	p.Wait(t, `document.querySelector("#timeline .filters button:last-child").ariaPressed === "true"`)
	press(t, p, "#people summary")
	p.Wait(t, `document.getElementById("name").checkVisibility()`)
	webtest.Eval[any](t, p, `document.getElementById("name").focus()`)
	p.Keys(t, "Ann\r")
	p.Wait(t, `document.getElementById("present").textContent.startsWith("Ann · you")`)
}
