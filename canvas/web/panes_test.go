package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// manySites returns n canvases.
func manySites(n int) []site {
	var sites []site
	for i := range n {
		sites = append(sites, helloSite(fmt.Sprintf("c%02d", i)))
	}
	return sites
}

const (
	// mounted is how many canvases have a frame.
	mounted = `document.querySelectorAll(".card iframe").length`
	// visible names the canvases that a person sees, in order.
	visible = `[...document.querySelectorAll(".card:not([hidden])")].sort((a, b) => a.style.order - b.style.order).map((c) => c.querySelector("h2").textContent.slice(6)).join()`
)

// TestManyCanvases: a page with many canvases mounts only those that a person sees. All are
// in the tabs and in the list, and have an address.
func TestManyCanvases(t *testing.T) {
	e := start(t, nil, manySites(12)...)
	b := webtest.Start(t)
	p := b.Open(t, e.link)
	p.Wait(t, visible+` === "c08,c09,c10,c11" && `+mounted+` === 4 && document.querySelectorAll(".card").length === 12`)
	p.Frames(t, 4, webtest.ContentFrame)
	p.Wait(t, `document.querySelectorAll("#tabs .tab").length === 12 && !document.getElementById("tabbar").hidden && document.getElementById("switch-count").textContent === "12"`)
	// By keyboard: the list is opened, searched, and left with a canvas in the current pane.
	for i := range 6 {
		webtest.Eval[any](t, p, `document.getElementById("switch").focus()`)
		p.Keys(t, "\r")
		p.Wait(t, `document.getElementById("switcher").open && document.activeElement.id === "find"`)
		p.Keys(t, fmt.Sprintf("hello C%02d\r", i))
		p.Wait(t, fmt.Sprintf(`!document.getElementById("switcher").open && (%s).split(",").includes("c%02d") && location.hash.endsWith("canvas=c%02[2]d") && !location.href.includes("tkn")`, visible, i))
		p.Wait(t, `[...document.querySelectorAll(".card:not([hidden]) .words")].every((w) => w.hidden)`)
		if long { // on a busy machine a canvas may not answer in time, and stays mounted
			p.Wait(t, mounted+` <= 6`)
		}
	}
	webtest.Eval[any](t, p, `void history.back()`)
	p.Wait(t, `(`+visible+`).split(",").includes("c04")`)
	narrow := b.Open(t, e.link+"&canvas=c03")
	narrow.Resize(t, 390, 800)
	narrow.Wait(t, visible+` === "c03" && document.getElementById("tabbar").getBoundingClientRect().height === 0`)
	narrow.Wait(t, `document.documentElement.scrollHeight < 1600 && document.documentElement.scrollWidth <= Math.max(390, innerWidth)`)
}

// TestUnsavedInputStays: a canvas with input of a person stays mounted. Others are mounted
// again as they were: their scroll position and their own state.
func TestUnsavedInputStays(t *testing.T) {
	if !long {
		t.Skip("a canvas has half a second to answer, which a busy machine may not give it: set AHP_LONG=1")
	}
	sites := manySites(9)
	sites[8].files["main.js"] += `document.body.append(Object.assign(document.createElement("div"), { style: "height: 3000px" }));`
	sites[7].files["main.js"] = `import { onLeave, kept, send } from "/.ahp/canvas.js";
		let n = (await kept)?.n ?? 0; document.title = "n " + n++; onLeave(() => ({ state: { n } }));`
	sites[6].files["main.js"] = `import { onLeave } from "/.ahp/canvas.js"; onLeave(() => ({ unsaved: true })); document.title = "stays";`
	e := start(t, nil, sites...)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, visible+` === "c05,c06,c07,c08"`)
	p.Wait(t, `[...document.querySelectorAll(".card:not([hidden]) .words")].every((w) => w.hidden)`)
	mark := func(title, do string) *webtest.Page {
		t.Helper()
		for range 200 { // a frame that was removed can still be in the list
			for _, f := range p.Frames(t, 1, webtest.ContentFrame) {
				if webtest.Eval[string](t, f, `document.title`) == title {
					webtest.Eval[any](t, f, do)
					return f
				}
			}
			webtest.Eval[bool](t, p, `new Promise((r) => setTimeout(() => r(true), 50))`)
		}
		t.Fatalf("no frame %q", title)
		return nil
	}
	// Its script makes the page long, also some time after each load.
	mark("Hello c08", `void (`+document+`.mark = 1)`).Wait(t, `(document.querySelector("iframe").contentWindow.scrollTo(0, 900), document.querySelector("iframe").contentWindow.scrollY === 900)`)
	mark("Hello c06", `void (`+document+`.mark = 1)`)
	typed := mark("Hello c05", `void (`+document+`.mark = 1)`)
	at := webtest.Eval[[]float64](t, typed, `(({ x, y, width, height }) => [x + width / 2, y + height / 2])(`+document+`.getElementById("name").getBoundingClientRect())`)
	frame := webtest.Eval[[]float64](t, p, `(({ x, y }) => [x, y])([...document.querySelectorAll(".card:not([hidden])")].find((c) => c.querySelector("h2").textContent === "Hello c05").querySelector("iframe").getBoundingClientRect())`)
	p.ClickAt(t, frame[0]+at[0], frame[1]+at[1])
	p.Keys(t, "typed")
	typed.Wait(t, document+`.getElementById("name").value === "typed"`)
	show := func(id string) {
		t.Helper()
		webtest.Eval[any](t, p, `void [...document.querySelectorAll("#tabs .tab")].find((b) => b.textContent.startsWith("Hello `+id+`")).click()`)
		p.Wait(t, `(`+visible+`).split(",").includes("`+id+`") && [...document.querySelectorAll(".card:not([hidden]) .words")].every((w) => w.hidden)`)
	}
	for _, id := range []string{"c00", "c01", "c02", "c03", "c04", "c00", "c01", "c02", "c03", "c04"} {
		// By a press, as a person: a frame that a script focuses beside another one is stopped.
		pane := webtest.Eval[[]float64](t, p, `(() => { const frame = [...document.querySelectorAll(".card:not([hidden])")].sort((a, b) => a.style.order - b.style.order)[`+string('0'+id[2]%4)+`].querySelector("iframe");
			frame.scrollIntoView({ block: "nearest", behavior: "instant" }); const { x, y, width, height } = frame.getBoundingClientRect(); return [x + width - 40, y + height / 2]; })()`)
		p.ClickAt(t, pane[0], pane[1])
		show(id)
	}
	p.Wait(t, mounted+` <= 8 && ![...document.querySelectorAll(".card")].find((c) => c.querySelector("h2").textContent === "Hello c08").querySelector("iframe")`)
	find := func(id, want string) {
		t.Helper()
		show(id)
		mark("Hello "+id, "0").Wait(t, want)
	}
	find("c05", document+`.mark === 1 && `+document+`.getElementById("name").value === "typed"`)
	find("c06", document+`.mark === 1`)
	find("c07", document+`.title === "n 1"`)
	find("c08", document+`.mark === undefined && document.querySelector("iframe").contentWindow.scrollY === 900`)
}

// TestActionOfAnUnmountedCanvas: an action that waits for a page mounts it, and so does a
// look of an agent.
func TestActionOfAnUnmountedCanvas(t *testing.T) {
	e := start(t, nil, manySites(8)...)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, visible+` === "c04,c05,c06,c07" && `+mounted+` === 4`)
	e.send(t, "c00", object{"x-ahp": "view/1", "type": "wanted"})
	p.Wait(t, mounted+` === 5`)
	e.see(t, "c01")
	p.Wait(t, visible+` === "c04,c05,c06,c07" && `+mounted+` === 6`)
}

// TestPanes: a person splits, pins, puts away and maximizes by keyboard and by drag; Escape
// also works from inside a canvas.
func TestPanes(t *testing.T) {
	e := start(t, nil, manySites(3)...)
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 3)
	p.Wait(t, `document.getElementById("tabbar").hidden`)
	choose := func(title, item string) {
		t.Helper()
		focus(t, p, title, ".more")
		p.Keys(t, "\r")
		p.Wait(t, `document.activeElement.closest(".menu")`)
		for range 9 {
			if webtest.Eval[bool](t, p, `document.activeElement.textContent.startsWith("`+item+`")`) {
				break
			}
			p.Keys(t, kb.ArrowDown)
		}
		p.Keys(t, "\r")
		p.Wait(t, `!document.querySelector(".menu")`)
	}
	choose("Hello c01", "Put away")
	p.Wait(t, visible+` === "c00,c02" && !document.getElementById("tabbar").hidden`)
	tab := func(name string) string {
		return `[...document.querySelectorAll("#tabs .tab")].find((b) => b.textContent.startsWith("Hello ` + name + `"))`
	}
	webtest.Eval[any](t, p, tab("c00")+`.focus()`)
	p.Keys(t, kb.ArrowRight)
	p.Wait(t, `document.activeElement === `+tab("c01"))
	p.Keys(t, "\r")
	p.Wait(t, visible+` === "c00,c01"`)
	choose("Hello c01", "Pin")
	webtest.Eval[any](t, p, `void `+tab("c02")+`.click()`)
	p.Wait(t, visible+` === "c02,c01"`) // not in the place of the pinned one
	at := webtest.Eval[[]float64](t, p, `((a, b) => [a.x + 20, a.y + 8, b.x + b.width - 30, b.y + 100])(`+tab("c00")+`.getBoundingClientRect(), document.querySelector(".card:not([hidden]) .stage").getBoundingClientRect())`)
	p.Drag(t, at[0], at[1], at[2], at[3])
	p.Wait(t, `(`+visible+`).split(",").length === 3 && !document.querySelector("[data-drop]")`)
	choose("Hello c02", "Maximize")
	p.Wait(t, visible+` === "c02" && !document.getElementById("tabbar").hidden`)
	pressed(t, p, "Hello c02")
	p.Wait(t, `document.activeElement.localName === "iframe"`)
	focus(t, p, "Hello c02", ".more")
	p.Keys(t, "\r")
	p.Wait(t, `document.querySelector(".menu")`)
	p.Keys(t, kb.Escape) // what was opened last
	p.Wait(t, `!document.querySelector(".menu") && `+visible+` === "c02" && document.activeElement.matches(".more")`)
	pressed(t, p, "Hello c02")
	p.Wait(t, `document.activeElement.localName === "iframe"`)
	p.KeysAtFocus(t, kb.Escape)
	p.Wait(t, `(`+visible+`).split(",").length === 3`)
	before := webtest.Eval[string](t, p, visible)
	p.Reload(t)
	shown(t, p, 3)
	p.Wait(t, visible+` === "`+before+`"`)
}

// TestPersonOpens: a person reads what can be opened, in words for people, and opens it.
func TestPersonOpens(t *testing.T) {
	e := start(t, nil)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `!document.getElementById("next-step").hidden && document.getElementById("agent-line").innerText`)
	webtest.Eval[any](t, p, `document.querySelector("#empty button").focus()`)
	p.Keys(t, "\r")
	p.Wait(t, `document.getElementById("gallery").open && !document.getElementById("gallery").innerText.includes("A folder of files, shown as it is.")`)
	p.Keys(t, kb.Escape)
	p.Wait(t, `!document.getElementById("gallery").open`)
	webtest.Eval[any](t, p, `document.getElementById("open-canvas").focus()`)
	p.Keys(t, "\r")
	webtest.Eval[any](t, p, `document.querySelector("[aria-label='Open Page']").focus()`)
	p.Keys(t, "\r")
	p.Wait(t, `document.querySelectorAll(".card").length === 1 && !document.getElementById("gallery").open && document.activeElement.localName === "iframe"`)
}
