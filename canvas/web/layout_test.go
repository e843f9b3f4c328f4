package web_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// titles returns the canvases in visual order and in document order.
const titles = `(() => { const cards = [...document.querySelectorAll(".card")]; const say = (l) => l.map((c) => c.querySelector("h2").textContent.slice(6)).join();
	return say([...cards].sort((a, b) => a.style.order - b.style.order)) + " " + say(cards) })()`

// focus focuses a control of the canvas with this title.
func focus(t *testing.T, p *webtest.Page, title, control string) {
	t.Helper()
	webtest.Eval[any](t, p, `[...document.querySelectorAll(".card")].find((c) => c.querySelector("h2").textContent === "`+title+`").querySelector("`+control+`").focus()`)
}

// TestLayout: arranging canvases by keyboard keeps their state, and the layout is the
// same after a reload.
func TestLayout(t *testing.T) {
	e := start(t, nil, helloSite("a"), helloSite("b"), helloSite("c"))
	p := webtest.Start(t).Open(t, e.link)
	for _, f := range shown(t, p, 3) {
		webtest.Eval[any](t, f, `void(`+document+`.mark = 1)`)
	}
	focus(t, p, "Hello a", ".later")
	p.Keys(t, "\r")
	p.Wait(t, titles+` === "b,a,c b,a,c" && document.activeElement.className === "tool later"`)
	focus(t, p, "Hello b", ".grip")
	p.Keys(t, kb.ArrowRight+kb.ArrowRight+kb.ArrowDown)
	p.Wait(t, `document.activeElement.ariaValueNow === "6"`)
	for _, f := range p.Frames(t, 3, webtest.ContentFrame) {
		if webtest.Eval[int](t, f, `(`+document+`.mark ?? 0)`) != 1 {
			t.Error("a canvas was loaded again when it was moved")
		}
	}
	before := webtest.Eval[float64](t, p, `document.activeElement.closest(".card").offsetHeight`)
	p.Reload(t)
	shown(t, p, 3)
	p.Wait(t, titles+` === "b,a,c b,a,c" && document.querySelector(".grip").ariaValueNow === "6"`)
	if after := webtest.Eval[float64](t, p, `document.querySelector(".card").offsetHeight`); after != before {
		t.Errorf("the height was %v and is %v", before, after)
	}
	focus(t, p, "Hello a", ".maximize")
	p.Keys(t, "\r")
	p.Wait(t, `document.querySelectorAll(".card:not([hidden])").length === 1 && document.activeElement.ariaPressed === "true"`)
	p.Keys(t, kb.Escape)
	p.Wait(t, `document.querySelectorAll(".card:not([hidden])").length === 3`)
	by := func(selector string, dx, dy float64) {
		t.Helper()
		at := webtest.Eval[[]float64](t, p, `(({ x, y, width, height }) => [x + Math.min(width / 2, 60), y + height / 2])(document.querySelector("`+selector+`").getBoundingClientRect())`)
		p.Drag(t, at[0], at[1], at[0]+dx, at[1]+dy)
	}
	width := webtest.Eval[float64](t, p, `document.querySelector(".card").offsetWidth`)
	by(".grip", 220, 60)
	p.Wait(t, fmt.Sprintf(`document.querySelector(".card").offsetWidth > %v && document.querySelector(".grip").ariaValueNow === "8"`, width+100))
	by(".card header", 0, webtest.Eval[float64](t, p, `document.querySelectorAll(".card")[2].offsetTop - document.querySelector(".card").offsetTop`))
	p.Wait(t, titles+`.startsWith("c")`)
	p.Resize(t, 390, 844)
	p.Wait(t, `new Set([...document.querySelectorAll(".card:not([hidden])")].map((c) => c.offsetLeft)).size === 1 && document.documentElement.scrollWidth <= 390`)
	save(t, "narrow", p)
}

// TestClosedWhileDragged: if an agent closes a canvas while a person drags it, the others
// can still be clicked.
func TestClosedWhileDragged(t *testing.T) {
	e := start(t, nil, helloSite("a"), helloSite("b"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	webtest.Eval[any](t, p, `void document.querySelector(".card header").addEventListener("pointermove", () => document.querySelector(".card").remove())`)
	at := webtest.Eval[[]float64](t, p, `(({ x, y, height }) => [x + 60, y + height / 2])(document.querySelector(".card header").getBoundingClientRect())`)
	p.Drag(t, at[0], at[1], at[0]+40, at[1]+40)
	p.Wait(t, `document.querySelectorAll(".card").length === 1 && document.body.className === ""`)
	webtest.Eval[any](t, p, `void document.querySelector(".card header").addEventListener("pointermove", () => { document.seen = document.body.className; })`)
	by := webtest.Eval[[]float64](t, p, `(({ x, y, height }) => [x + 60, y + height / 2])(document.querySelector(".card header").getBoundingClientRect())`)
	p.Drag(t, by[0], by[1], by[0]+40, by[1])
	p.Wait(t, `document.seen === "dragging" && document.body.className === ""`)
}

// TestOldLayoutsAreDropped: the layout of canvases closed long ago is dropped.
func TestOldLayoutsAreDropped(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	got := webtest.Eval[[]any](t, p, `(async () => {
		const { Layout } = await import("/layout.js");
		const main = document.createElement("main"), layout = new Layout(main, "forgets"), order = () => JSON.parse(localStorage.getItem("layout forgets")).order;
		const adopt = (id) => {
			const card = document.createElement("article");
			card.innerHTML = '<header></header><button class="later"></button><div class="grip"></div>';
			main.append(card);
			layout.adopt(id, card);
			return card;
		};
		const stays = adopt("stays");
		let looked = 0;
		for (let i = 0; i < 500; i++) { adopt("c" + i).remove(); layout.release("c" + i); }
		const filter = Array.prototype.filter;
		Array.prototype.filter = function (...a) { looked = Math.max(looked, this.length); return filter.apply(this, a); };
		layout.apply();
		Array.prototype.filter = filter;
		adopt("new");
		stays.querySelector(".later").click();
		return [looked, order().length, order().at(-1), order().includes("c499")];
	})()`)
	if diff := cmp.Diff([]any{65.0, 64.0, "stays", true}, got); diff != "" {
		t.Errorf("names: looked up, stored, the last, and a closed one (-want +got):\n%s", diff)
	}
}

// TestTimeline: the texts about what the agent, the person and the host did.
func TestTimeline(t *testing.T) {
	s := helloSite("one")
	s.files["index.html"] += `<style>html { height: 100% }</style>`
	s.files["main.js"] += `document.addEventListener("click", () => send("pressed")); said.textContent = "listens";`
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)[0].Wait(t, document+`.getElementById("said").textContent === "listens"`)
	said := func(line string) {
		t.Helper()
		p.Wait(t, `[...document.querySelectorAll("#happened li")].some((li) => [...li.children].slice(1).map((c) => c.textContent).join(" ") === "`+line+`")`)
	}
	said("Agent opened the canvas — Hello one")
	pressed(t, p, "Hello one")
	said("You sent something in “Hello one”")
	if err := e.handle("one").Note(canvas.ByAgent, "used “add”"); err != nil {
		t.Fatal(err)
	}
	said("Agent used “add” — Hello one")
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale), Title: ahp.Set("New"), Status: ahp.Set("3 left")})
	said("New changed its title")
	said("Host lost the connection to the canvas's provider — New")
	e.gone()
	said("This page lost the connection to the host")
	e.back(t)
	said("This page is connected again")
	p.Click(t, ".close")
	p.Click(t, ".undo .now")
	said("You closed the canvas — New")
	// A page of another day tells the same, and knows which lines are this browser's.
	p.Reload(t)
	said("Agent opened the canvas — Hello one")
	said("You closed the canvas — New")
	webtest.Eval[any](t, p, `document.getElementById("timeline").open = true`)
	p.Wait(t, `[...document.querySelectorAll(".filters button")].length === 4`)
	webtest.Eval[any](t, p, `[...document.querySelectorAll(".filters button")].find((b) => b.textContent === "People").click()`)
	p.Wait(t, `[...document.querySelectorAll("#happened li")].filter((li) => !li.hidden).every((li) => li.dataset.who === "you")`)
}

// TestCloseOfAnother: what another person did has the name that the person chose.
func TestCloseOfAnother(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	b, elsewhere := webtest.Start(t), webtest.Start(t)
	p, ann := b.Open(t, e.link), elsewhere.Open(t, e.link)
	shown(t, p, 1)
	shown(t, ann, 1)
	webtest.Eval[any](t, ann, `void (localStorage.clear(), document.getElementById("people").open = true, document.getElementById("name").value = "Ann", document.getElementById("naming").requestSubmit())`)
	p.Wait(t, `(document.dispatchEvent(new Event("visibilitychange")), [...document.querySelectorAll("#present li")].some((li) => li.textContent === "Ann"))`)
	ann.Click(t, ".close")
	ann.Click(t, ".undo .now")
	p.Wait(t, `[...document.querySelectorAll("#happened li")].some((li) => [...li.children].slice(1).map((c) => c.textContent).join(" ") === "Ann closed the canvas — Hello one")`)
}

// TestAttention: a canvas that waits is marked, counted in the title, and reachable while
// another one is maximized. Its page can ask too, until the person comes to it.
func TestAttention(t *testing.T) {
	asking := helloSite("two")
	asking.files["main.js"] += `import("/.ahp/canvas.js").then(({ attention }) => { window.ask = attention; });`
	e := start(t, nil, helloSite("one"), asking)
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 2)
	webtest.Eval[any](t, p, `document.querySelector("[aria-labelledby='card-1'] .maximize").click()`)
	if err := e.handle("two").Attention("Approve the\nrelease"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `document.title.startsWith("(1) ") && !document.querySelector(".needs").hidden && document.querySelector(".needs button").innerText === "Hello two Approve the release" && document.querySelector("#tabs .mark").textContent === "Waits for you" && document.querySelector("#tabs .tab:has(.mark)").title.endsWith("Approve the release")`)
	p.Click(t, ".needs button")
	p.Wait(t, `document.querySelector(".needs").hidden && !document.querySelector("[aria-labelledby='card-2']").hidden && !document.querySelector("[aria-labelledby='card-2'] .waits").hidden`)
	if err := e.handle("two").Attention(""); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `!document.title.startsWith("(") && document.querySelector("[aria-labelledby='card-2'] .waits").hidden`)
	// From the canvas's own page, while the focus is elsewhere.
	webtest.Eval[any](t, p, `document.getElementById("theme").focus()`)
	two := frames[slices.IndexFunc(frames, func(f *webtest.Page) bool { return webtest.Eval[string](t, f, "document.title") == "Hello two" })]
	two.Wait(t, `Boolean(document.querySelector("iframe").contentWindow.ask)`)
	webtest.Eval[any](t, two, `void document.querySelector("iframe").contentWindow.ask("Look \u202e here")`)
	p.Wait(t, `document.title.startsWith("(1) ") && document.querySelector("[aria-labelledby='card-2'] .waits").title === "Look here"`)
	webtest.Eval[any](t, p, `void document.querySelector("[aria-labelledby='card-2'] .close").focus()`)
	p.Wait(t, `!document.title.startsWith("(")`)
}

// TestProgress: a card shows how far work is, until it is done.
func TestProgress(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	step := func(done, total float64, text string) {
		t.Helper()
		if err := e.handle("one").Progress(done, total, text); err != nil {
			t.Fatal(err)
		}
	}
	step(0, 0, "Counting")
	p.Wait(t, `document.querySelector(".progress span")?.textContent === "Counting" && !document.querySelector(".progress progress").hasAttribute("value")`)
	step(3, 4, "Copying")
	p.Wait(t, `document.querySelector(".progress span").textContent === "Copying · 75 %" && document.querySelector(".progress progress").value === 3`)
	step(4, 4, "Copying")
	p.Wait(t, `document.querySelector(".progress").hidden`)
}
