package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// field is a page with a text field, which a test can give the focus by a press.
const field = `<!doctype html><style>input { position: fixed; inset: 0; font-size: 20px }</style><input><script>globalThis.input = document.querySelector("input")</script>`

// pressed presses in the middle of the frame of the card with a title.
func pressed(t *testing.T, p *webtest.Page, title string) {
	t.Helper()
	at := webtest.Eval[[]float64](t, p, fmt.Sprintf(`(async () => {
		const f = [...document.querySelectorAll(".card")].find((c) => c.querySelector("h2").textContent === %q).querySelector("iframe");
		f.scrollIntoView({ block: "center", behavior: "instant" });
		await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
		const { x, y, width, height } = f.getBoundingClientRect();
		return [x + width / 2, y + height / 2];
	})()`, title))
	p.ClickAt(t, at[0], at[1])
}

// stopped is an expression for the titles of cards whose canvas took the keyboard.
const stopped = `[...document.querySelectorAll(".card")].filter((c) => !c.querySelector(".words").hidden && c.querySelector(".words h3").textContent === "This canvas took the keyboard").map((c) => c.querySelector("h2").textContent).join()`

// TestKeyboardThief: a canvas that focuses itself all the time gets nothing of what a person
// types into its neighbor, and loses its frame; the person can reload it.
func TestKeyboardThief(t *testing.T) {
	e := start(t, nil,
		site{id: "victim", title: "Victim", files: map[string]string{"index.html": field}},
		site{id: "thief", title: "Thief", files: map[string]string{"index.html": field + `<script>globalThis.steal = () => setInterval(() => input.focus(), 30)</script>`}},
	)
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 2)
	value := func(frame *webtest.Page) string { return webtest.Eval[string](t, frame, win+`.input.value`) }
	victim, thief := frames[0], frames[1]
	if webtest.Eval[bool](t, victim, win+`.steal !== undefined`) {
		victim, thief = thief, victim
	}
	pressed(t, p, "Victim")
	victim.Wait(t, document+`.activeElement === `+win+`.input && `+document+`.hasFocus()`)
	p.Keys(t, "a")
	webtest.Eval[any](t, thief, win+`.addEventListener("keydown", (e) => document.title += e.key), `+win+`.steal(), 0`)
	typed := 1
	for n := 0; webtest.Eval[string](t, p, stopped) == "" && n < 500; n++ {
		p.Keys(t, "b")
		typed++
	}
	p.Wait(t, stopped+` === "Thief"`)
	victim.Wait(t, document+`.hasFocus() && `+document+`.activeElement === `+win+`.input`)
	lost := typed - len(value(victim))
	t.Logf("%d of %d characters were lost", lost, typed)
	if long && lost > 1 { // what is lost before the theft is seen depends on the machine's load
		t.Errorf("%d characters were lost", lost)
	}
	p.Keys(t, "Z")
	victim.Wait(t, win+`.input.value.endsWith("Z")`)
	p.Wait(t, `document.querySelectorAll(".card iframe").length === 1`)
	p.Click(t, ".card .words:not([hidden]) .retry")
	p.Wait(t, `document.querySelectorAll(".card iframe").length === 2 && `+stopped+` === ""`)
}

// TestKeyboardMoves: a person's own moves from canvas to canvas, by presses and by Tab, and
// those of the page stop none, and neither does a canvas that takes a focus that no person
// has moved yet.
func TestKeyboardMoves(t *testing.T) {
	e := start(t, nil,
		site{id: "one", title: "One", files: map[string]string{"index.html": field}},
		site{id: "two", title: "Two", files: map[string]string{"index.html": field}},
	)
	p := webtest.Start(t).Open(t, e.link)
	for range 2 { // no person has been in a canvas yet
		for _, frame := range shown(t, p, 2) {
			webtest.Eval[any](t, frame, win+`.input.focus(), 0`)
			frame.Wait(t, document+`.activeElement === `+win+`.input`)
		}
	}
	const focused = `document.activeElement?.closest(".card")?.querySelector("h2").textContent + " " + document.activeElement?.localName`
	for range 3 {
		for _, title := range []string{"One", "Two"} {
			pressed(t, p, title)
			p.Wait(t, fmt.Sprintf(`%s === "%s iframe"`, focused, title))
			p.Keys(t, "x")
		}
	}
	pressed(t, p, "One")
	p.Wait(t, focused+` === "One iframe"`)
	for range 30 {
		p.Keys(t, kb.Tab) // the focus moves later, from process to process
		if p.WaitAtMost(300*time.Millisecond, focused+` === "Two iframe"`) {
			break
		}
	}
	p.Wait(t, focused+` === "Two iframe"`)
	p.Keys(t, "y")
	if got := webtest.Eval[string](t, p, stopped); got != "" {
		t.Errorf("%s was stopped", got)
	}
}
