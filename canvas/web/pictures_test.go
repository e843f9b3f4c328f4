package web_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// pictures is how many lines of the open list have a picture of their canvas.
const pictures = `document.querySelectorAll("#found .sketch").length`

// pictured is a canvas with boxes of known colors, one of which is private.
func pictured(id string) site {
	s := helloSite(id)
	s.files["index.html"] += `<div style="width: 90px; height: 40px; background: rgb(4, 5, 6)"></div>
		<div data-private style="width: 90px; height: 40px; background: rgb(7, 8, 9)">salary</div>`
	return s
}

// openList opens the list of canvases.
func openList(t *testing.T, p *webtest.Page) {
	t.Helper()
	webtest.Eval[any](t, p, `document.getElementById("switch").focus()`)
	p.Keys(t, "\r")
	p.Wait(t, `document.getElementById("switcher").open && document.activeElement.id === "find"`)
}

// TestPictures: the list shows what each canvas looked like when the person last saw it,
// without its text and what is private there, and without a canvas that is private.
func TestPictures(t *testing.T) {
	e := start(t, nil, pictured("one"), pictured("two"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	openList(t, p)
	p.Wait(t, pictures+` === 2 && document.querySelectorAll('#found .sketch [fill="rgb(4, 5, 6)"]').length === 2`)
	if got := webtest.Eval[string](t, p, `[...document.querySelectorAll("#found .sketch")].map((s) => s.textContent + s.querySelectorAll('[fill="rgb(7, 8, 9)"]').length).join()`); got != "0,0" {
		t.Errorf("text and private boxes of the pictures: %q", got)
	}
	save(t, "pictures", p)
	p.Resize(t, 390, 800)
	p.Wait(t, `[...document.querySelectorAll("#found .sketch")].every((s) => s.getBoundingClientRect().width === 0)`)
	p.Resize(t, 1280, 860)
	p.Keys(t, kb.Escape)

	// A canvas that is not seen any more keeps its picture; one that a person makes private loses it.
	choose(t, p, "Put away")
	p.Wait(t, `document.querySelectorAll(".card:not([hidden])").length === 1`)
	openList(t, p)
	p.Wait(t, pictures+` === 2`)
	p.Keys(t, kb.Escape)
	webtest.Eval[any](t, p, `document.querySelector(".card:not([hidden]) .private").click()`)
	p.Wait(t, `document.querySelector(".card:not([hidden]) .private").ariaPressed === "true"`)
	openList(t, p)
	p.Wait(t, pictures+` === 1`)
	p.Keys(t, "two")
	p.Wait(t, `document.querySelectorAll("#found li").length === 1`)
}

// TestPicturesFollowTheTheme: when the theme changes, pictures are taken again. That of a
// canvas that is not visible is turned, unless the canvas does not follow the theme.
func TestPicturesFollowTheTheme(t *testing.T) {
	t.Parallel()
	sites := []site{helloSite("seen"), helloSite("away"), helloSite("fixed")}
	for i, ground := range []string{"var(--background-color-default)", "var(--background-color-default)", "rgb(250, 240, 230)"} {
		sites[i].files["index.html"] += `<style>body { background: ` + ground + ` !important }</style>`
	}
	e := start(t, nil, sites...)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.documentElement.dataset.colorMode === "dark" || void document.getElementById("theme").click()`)
	shown(t, p, 3)
	const grounds = `[...document.querySelectorAll("#found li")].map((li) => li.dataset.id + " " + li.querySelector(".ground")?.getAttribute("fill") + " " + Boolean(li.querySelector(".turned"))).sort().join("; ")`
	openList(t, p)
	p.Wait(t, grounds+` === "away rgb(21, 24, 29) false; fixed rgb(250, 240, 230) false; seen rgb(21, 24, 29) false"`)
	p.Keys(t, kb.Escape)
	for _, title := range []string{"away", "fixed"} {
		p.Wait(t, `(() => { const card = [...document.querySelectorAll(".card")].find((c) => c.querySelector("h2").textContent === "Hello `+title+`"); card.querySelector(".more").click(); const b = [...document.querySelectorAll(".menu button")].find((b) => b.textContent === "Put away"); b?.click(); return Boolean(b); })()`)
	}
	p.Wait(t, visible+` === "seen"`)
	openList(t, p)
	webtest.Eval[any](t, p, `void document.getElementById("theme").click()`) // as the system does it while the list is open
	p.Wait(t, `document.documentElement.dataset.colorMode === "light" || void document.getElementById("theme").click()`)
	p.Wait(t, grounds+` === "away rgb(21, 24, 29) true; fixed rgb(250, 240, 230) false; seen rgb(255, 255, 255) false"`)
	save(t, "pictures-themed", p)
}

// TestTallPictures: the picture of a tall pane shows all of it, and one that is cut fades out.
func TestTallPictures(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	got := webtest.Eval[[]string](t, p, `(async () => {
		const { drawSketch } = await import("/pictures.js");
		return [200, 600, 5000].map((height) => {
			const svg = drawSketch({ width: 300, height, ground: "none", shapes: [{ t: "box", x: 0, y: height - 20, w: 10, h: 10, r: 0, fill: "rgb(1, 2, 3)", line: "none" }] });
			return [svg.getAttribute("viewBox"), svg.getAttribute("preserveAspectRatio").split(" ")[1], svg.classList.contains("cut"), svg.querySelectorAll('[fill="rgb(1, 2, 3)"]').length].join();
		});
	})()`)
	if diff := cmp.Diff([]string{"0 0 300 200,meet,false,1", "0 0 300 600,meet,false,1", "0 0 300 600,meet,true,0"}, got); diff != "" {
		t.Errorf("view, fit, cut, lowest box (-want +got):\n%s", diff)
	}
}

// TestPicturesOfSingleDocuments: they have pictures too.
func TestPicturesOfSingleDocuments(t *testing.T) {
	e := start(t, without(noWorker), pictured("one"), pictured("two"))
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, spoken+` !== "" && [...document.querySelectorAll(".words")].every((w) => w.hidden)`)
	openList(t, p)
	p.Wait(t, pictures+` === 2 && document.querySelectorAll('#found .sketch [fill="rgb(4, 5, 6)"]').length === 2`)
}

// TestUntrustedSketches: the page draws only numbers and colors of what a frame says.
func TestUntrustedSketches(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	got := webtest.Eval[[]any](t, p, `(async () => {
		const { cleanedSketch } = await import("/pictures.js");
		const box = (more) => ({ t: "box", x: 1, y: 2, w: 3, h: 4, r: 0, fill: "rgb(1, 2, 3)", line: "none", ...more });
		const one = (shape) => cleanedSketch({ width: 100, height: 100, ground: "red; x", shapes: [shape] });
		const drawn = one(box({ fill: "url(https://attack.example/)", line: "rgb(url(x))", x: Infinity, y: "4", w: -5, h: 1e9, id: "x" }));
		return [
			cleanedSketch(undefined) ?? "none", cleanedSketch({ width: 100, height: 100, shapes: "x" }) ?? "none", cleanedSketch({ width: "100", height: 100, shapes: [] }) ?? "none",
			one({ t: "script" }).shapes.length, one(null).shapes.length, one(box()).shapes[0].fill, one(box({ fill: "oklab(0.5 0.1 -0.2 / 0.5)" })).shapes[0].fill,
			drawn.ground, Object.values(drawn.shapes[0]).join(), one({ t: "line", points: Array(500).fill("x"), line: "var(--x)" }).shapes[0].points.length,
			cleanedSketch({ width: 100, height: 100, shapes: Array(1000).fill(box()) }).shapes.length,
		];
	})()`)
	want := []any{"none", "none", "none", 0.0, 0.0, "rgb(1, 2, 3)", "oklab(0.5 0.1 -0.2 / 0.5)", "none", "box,0,0,0,10000,0,none,none", 64.0, 400.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
