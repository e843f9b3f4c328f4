package board_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample/sampletest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// page is a sampletest.Page of a board.
type page struct{ *sampletest.Page }

// sketch is an expression for the board on the page, as "To do: a b* | Done:".
const sketch = `all(".list").map((l) => l.querySelector(".text").textContent + ":" +
	[...l.querySelectorAll(".card")].map((c) => " " + c.querySelector(".name").textContent + (c.classList.contains("done") ? "*" : "")).join("")).join(" | ")`

// focus focuses the card with a title.
func (p page) focus(title string) {
	p.Eval(`all(".card").find((c) => c.querySelector(".name").textContent === "` + title + `").focus()`)
}

// TestInTheBrowser: an agent fills the board, a person works in it by keyboard and
// mouse, and a second page shows the same.
func TestInTheBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
	webtest.Each(t, inTheBrowser, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

func inTheBrowser(t *testing.T) {
	browser := webtest.Start(t)
	b := sampletest.New(t, board.New(), `{"title":"Release 2.0"}`)
	two, one := page{b.View(browser)}, page{b.View(browser)} // the newest window has the focus
	b.Invoke("add_card", `{"list":"todo","title":"Write notes","notes":"What changed\nand why"}`)
	b.Invoke("add_card", `{"list":"todo","title":"<b>Tag</b> & sign"}`)
	b.Invoke("add_card", `{"list":"doing","title":"Fix build"}`)
	b.Invoke("add_card", `{"list":"done","title":"Plan","done":true}`)
	agree := func(board string) {
		t.Helper()
		one.Shows(sketch, board)
		two.Shows(sketch, board)
	}
	full := "To do: Write notes <b>Tag</b> & sign | Doing: Fix build | Done: Plan*"
	agree(full)

	one.focus("Write notes")
	one.Keys(" ")
	agree("To do: Write notes* <b>Tag</b> & sign | Doing: Fix build | Done: Plan*")
	one.Wait(`at("live").textContent.includes("is done")`)
	one.Press("Shift+ArrowRight")
	agree("To do: <b>Tag</b> & sign | Doing: Write notes* Fix build | Done: Plan*")
	one.Wait(`d.activeElement.textContent.includes("Write notes")`) // the focus follows the card
	one.Press("Shift+ArrowDown")
	agree("To do: <b>Tag</b> & sign | Doing: Fix build Write notes* | Done: Plan*")
	one.Keys(kb.ArrowUp)
	one.Wait(`d.activeElement.textContent.includes("Fix build")`)
	one.Keys(kb.ArrowRight)
	one.Wait(`d.activeElement.textContent.includes("Plan")`)
	one.Keys(kb.Delete)
	agree("To do: <b>Tag</b> & sign | Doing: Fix build Write notes* | Done:")
	one.Eval(`at("undo").click()`)
	agree("To do: <b>Tag</b> & sign | Doing: Fix build Write notes* | Done: Plan*")

	one.focus("Fix build")
	one.Press("Enter")
	one.Wait(`d.activeElement.matches("input[type=text]")`)
	b.Invoke("check_card", `{"card":"c5"}`) // the agent changes the same card during the edit
	b.Invoke("edit_card", `{"card":"c6","notes":"It is red"}`)
	one.Shows(`at("c6").querySelector(".notes").textContent`, "It is red")
	one.Keys("Fix the build" + kb.Enter)
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: Plan*")
	if got := b.Invoke("get_board", `{}`); !strings.Contains(got, `"title":"Fix the build","notes":"It is red"`) {
		t.Errorf("a person's new title overwrote the agent's notes: %s", got)
	}
	one.focus("Fix the build") // the agent replaces the text that the person edits
	one.Press("Enter")
	one.Wait(`d.activeElement.matches("input[type=text]")`)
	b.Invoke("edit_card", `{"card":"c6","title":"Fix all builds"}`)
	one.Shows(`at("c6").querySelector(".name").textContent`, "Fix all builds")
	one.Keys("Fix it" + kb.Enter)
	one.Wait(`at("toast").textContent.includes("is now called “Fix all builds”")`)
	agree("To do: <b>Tag</b> & sign* | Doing: Fix all builds Write notes* | Done: Plan*")
	one.Keys(kb.Enter) // having read that
	agree("To do: <b>Tag</b> & sign* | Doing: Fix it Write notes* | Done: Plan*")
	b.Invoke("edit_card", `{"card":"c6","title":"Fix the build"}`)
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: Plan*")
	one.Press("n")
	one.Wait(`d.activeElement.matches("input[type=text]")`)
	one.Keys("New one" + kb.Enter)
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* New one | Done: Plan*")
	one.Keys(kb.Escape)

	drag(two, "New one", "Done")
	agree("To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: New one Plan*")
	if got := b.Invoke("get_board", `{}`); strings.Count(got, `"done":true`) != 3 {
		t.Errorf("the board is %s", got)
	}
	b.Invoke("edit_card", `{"card":"c6","notes":"See https://example.com/build?n=1, or http://localhost:8080. Not http://example.com/"}`)
	links := `all(".notes .link").map((l) => l.textContent).join(" ")`
	one.Shows(links, "https://example.com/build?n=1 http://localhost:8080")
	one.Eval(`all(".notes .link")[0].click()`)
	one.Tab.Wait(t, `document.querySelector(".offer:not([hidden]) .address")?.textContent === "https://example.com/build?n=1"`)
	one.Tab.Click(t, ".offer .dismiss")
	one.Tab.Wait(t, `document.querySelector(".offer").hidden`)

	two.Reload() // the state is in the host
	two.Shows(sketch, "To do: <b>Tag</b> & sign* | Doing: Fix the build Write notes* | Done: New one Plan*")
	look(t, one)
}

// drag moves a card to the top of a list by pointer.
func drag(p page, card, list string) {
	p.Eval(`(() => {
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

// roomy is whether a card's commands leave the room to its title: they lie over it, or open
// below it where nothing hovers.
const roomy = `(() => {
	const card = all(".card")[0], side = card.querySelector(".side"), more = card.querySelector(":scope > .icon");
	const beside = () => card.getBoundingClientRect().right - card.querySelector(".name").getBoundingClientRect().right;
	if (!d.defaultView.matchMedia("(hover: none)").matches) return beside() < 12 && !more.checkVisibility();
	const shut = !side.checkVisibility() && beside() < 60;
	more.click();
	const below = side.checkVisibility() && side.getBoundingClientRect().top >= card.querySelector(".name").getBoundingClientRect().bottom && more.ariaExpanded === "true";
	more.click();
	return shut && below;
})()`

// look takes screenshots and audits in both themes and a narrow window.
func look(t *testing.T, p page) {
	t.Helper()
	p.focus("Fix the build")
	p.Look("board-light")
	p.Eval(`at("help-button").click()`)
	p.Dark()
	p.Look("board-dark")
	p.Tab.Resize(t, 420, 860)
	p.Look("board-narrow")
	p.Wait(roomy)
}
