package board_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// bench is a running host with an open board.
type bench struct {
	t    *testing.T
	host *host.Host
}

func newBench(t *testing.T) *bench {
	t.Helper()
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	if _, err := h.Canvases().Register(canvas.Extension{ID: board.ExtensionID}, board.New(), board.Declaration()); err != nil {
		t.Fatal(err)
	}
	_, err = h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: board.CanvasID, InstanceID: "b", Input: ahp.Value(`{"title":"Release 2.0"}`)})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, h}
}

func (b *bench) invoke(action, input string) string {
	b.t.Helper()
	v, err := b.host.Canvases().Invoke(b.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "b", ActionName: action, Input: ahp.Value(input)})
	if err != nil {
		b.t.Fatalf("%s %s: %v", action, input, err)
	}
	return string(v)
}

// page is the board in a tab of its own. The canvas is the inner frame, which is
// of the outer one's origin.
type page struct {
	t          *testing.T
	tab, frame *webtest.Page
}

// prelude gives expressions the board's document, and what is on it as
// "To do: a b* | Done:".
const prelude = `(() => { const d = document.querySelector("iframe").contentDocument;
	const at = (id) => d.getElementById(id);
	const sketch = () => [...d.querySelectorAll(".list")].map((l) => l.querySelector(".text").textContent + ":" +
		[...l.querySelectorAll(".card")].map((c) => " " + c.querySelector(".name").textContent + (c.classList.contains("done") ? "*" : "")).join("")).join(" | ");
	return `

func (b *bench) view(browser *webtest.Browser) *page {
	b.t.Helper()
	tab := browser.Open(b.t, b.host.Link(host.DefaultSession))
	p := &page{b.t, tab, tab.Frames(b.t, 1, webtest.ContentFrame)[0]}
	p.wait(`d.querySelector(".list")`)
	return p
}

func (p *page) wait(expression string) {
	p.t.Helper()
	p.frame.Wait(p.t, prelude+expression+`})()`)
}

func (p *page) shows(sketch string) {
	p.t.Helper()
	p.wait(`sketch() === ` + string(ahp.MustMarshal(sketch)))
}

func (p *page) eval(expression string) string {
	p.t.Helper()
	return webtest.Eval[string](p.t, p.frame, prelude+`String(`+expression+`)})()`)
}

// focus puts the keyboard on a card by its title.
func (p *page) focus(title string) {
	p.t.Helper()
	p.eval(`[...d.querySelectorAll(".card")].find((c) => c.querySelector(".name").textContent === "` + title + `").focus()`)
}

func (p *page) keys(keys string) {
	p.t.Helper()
	p.tab.Keys(p.t, keys)
}

// press is a key that the page handles itself: a browser that is driven types the
// letter all the same, where a person's would not. "Shift+" may stand before it.
func (p *page) press(key string) {
	p.t.Helper()
	key, shift := strings.CutPrefix(key, "Shift+")
	p.eval(fmt.Sprintf(`d.activeElement.dispatchEvent(new d.defaultView.KeyboardEvent("keydown", { key: %q, shiftKey: %v, bubbles: true, cancelable: true }))`, key, shift))
}

// TestInTheBrowser: an agent fills the board, a person works in it by keyboard
// and mouse, and a second page agrees at once.
func TestInTheBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser := webtest.Start(t)
	b := newBench(t)
	one, two := b.view(browser), b.view(browser)
	b.invoke("add_card", `{"list":"todo","title":"Write notes","notes":"What changed\nand why"}`)
	b.invoke("add_card", `{"list":"todo","title":"<b>Tag</b> & sign"}`)
	b.invoke("add_card", `{"list":"doing","title":"Fix build"}`)
	b.invoke("add_card", `{"list":"done","title":"Plan","done":true}`)
	agree := func(sketch string) {
		t.Helper()
		one.shows(sketch)
		two.shows(sketch)
	}
	full := "To do: Write notes <b>Tag</b> & sign | Doing: Fix build | Done: Plan*"
	agree(full)

	one.focus("Write notes")
	one.keys(" ")
	agree("To do: Write notes* <b>Tag</b> & sign | Doing: Fix build | Done: Plan*")
	one.wait(`at("live").textContent.includes("is done")`)
	one.press("Shift+ArrowRight")
	agree("To do: <b>Tag</b> & sign | Doing: Write notes* Fix build | Done: Plan*")
	one.wait(`d.activeElement.textContent.includes("Write notes")`) // the focus goes with the card
	one.press("Shift+ArrowDown")
	agree("To do: <b>Tag</b> & sign | Doing: Fix build Write notes* | Done: Plan*")
	one.keys(kb.ArrowUp)
	one.wait(`d.activeElement.textContent.includes("Fix build")`)
	one.keys(kb.ArrowRight)
	one.wait(`d.activeElement.textContent.includes("Plan")`)
	one.keys(kb.Delete)
	agree("To do: <b>Tag</b> & sign | Doing: Fix build Write notes* | Done:")
	one.eval(`at("undo").click()`)
	agree("To do: <b>Tag</b> & sign | Doing: Fix build Write notes* | Done: Plan*")

	one.focus("Fix build")
	one.press("Enter")
	one.wait(`d.activeElement.matches("input[type=text]")`)
	b.invoke("check_card", `{"card":"c5"}`) // the agent goes on meanwhile
	one.keys("Fix the build" + kb.Enter)
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: Plan*")
	one.press("n")
	one.wait(`d.activeElement.matches("input[type=text]")`)
	one.keys("New one" + kb.Enter)
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* New one | Done: Plan*")
	one.keys(kb.Escape)

	drag(two, "New one", "Done")
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: New one Plan*")
	if got := b.invoke("get_board", `{}`); strings.Count(got, `"done":true`) != 3 {
		t.Errorf("the board is %s", got)
	}
	two.tab.Reload(t) // the state is the host's
	two.frame = two.tab.Frames(t, 1, webtest.ContentFrame)[0]
	two.shows("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: New one Plan*")
	if dir := os.Getenv("BOARD_SCREENSHOTS"); dir != "" {
		shots(t, dir, one)
	}
}

// drag moves a card to the top of a list by pointer.
func drag(p *page, card, list string) {
	p.t.Helper()
	p.eval(`(() => {
		const c = [...d.querySelectorAll(".card")].find((c) => c.querySelector(".name").textContent === "` + card + `");
		const l = [...d.querySelectorAll(".list")].find((l) => l.querySelector(".text").textContent === "` + list + `").querySelector(".cards");
		const from = c.getBoundingClientRect(), to = l.getBoundingClientRect();
		const go = (el, type, x, y) => el.dispatchEvent(new d.defaultView.PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", button: 0, bubbles: true, cancelable: true }));
		go(c.querySelector(".name"), "pointerdown", from.x + 60, from.y + 10);
		go(d, "pointermove", from.x + 80, from.y + 20);
		go(d, "pointermove", to.x + 20, to.y + 4);
		go(d, "pointerup", to.x + 20, to.y + 4);
	})()`)
}

// shots writes what a reviewer wants to see.
func shots(t *testing.T, dir string, p *page) {
	t.Helper()
	shot := func(name string) {
		if err := os.WriteFile(dir+"/"+name+".png", p.tab.Screenshot(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.focus("Fix the build")
	shot("light")
	p.eval(`at("help-button").click()`)
	dark := `[...document.querySelectorAll("button")].find((b) => b.textContent.startsWith("Theme"))`
	p.tab.Wait(t, `(`+dark+`.click(), `+dark+`.textContent.includes("dark"))`)
	p.wait(`d.documentElement.dataset.colorMode === "dark"`)
	shot("dark")
	p.tab.Resize(t, 420, 860)
	shot("narrow")
}
