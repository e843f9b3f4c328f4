package web_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestForcedColors: with the colors of a person's system, what the page shows by a color
// alone is still visible: the connection, which canvases are shown, the grip, and what waits.
func TestForcedColors(t *testing.T) {
	t.Parallel()
	e := start(t, nil, manySites(8)...)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, visible+` === "c04,c05,c06,c07" && document.getElementById("connection").textContent === "Connected"`)
	if err := e.handle("c07").Attention("Please look"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `document.querySelector('.card[data-attention="true"]')`)
	p.EmulateMedia(t, "", "forced-colors", "active")
	got := webtest.Eval[map[string]any](t, p, `(() => {
		const style = (selector, part) => getComputedStyle(document.querySelector(selector), part);
		const canvas = getComputedStyle(document.body).backgroundColor;
		return {
			active: matchMedia("(forced-colors: active)").matches,
			connection: style("#connection", "::before").backgroundColor !== canvas,
			shown: style('.tab[data-visible="true"]').outlineStyle, hidden: style('.tab[data-visible="false"]').outlineStyle,
			grip: style(".card:not([hidden]) .grip").backgroundImage.includes(style("body").color),
			waits: style('.card[data-attention="true"]').outlineColor !== style("body").color && style('.card[data-attention="true"]').outlineStyle,
			buttons: [...document.querySelectorAll("button")].filter((b) => b.checkVisibility() && !b.closest(".tools") && getComputedStyle(b).borderTopColor === canvas).length,
		};
	})()`)
	want := map[string]any{"active": true, "connection": true, "shown": "solid", "hidden": "none", "grip": true, "waits": "solid", "buttons": 0.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	save(t, "forced-colors", p)
}

// printed is what a printed page shows, besides canvases.
const printed = `[...document.querySelectorAll(".bar, .banners, footer, .notices, .undo, .card > header, .tools, .grip, .card")].filter((e) => e.checkVisibility()).map((e) => e.className || e.localName).join()`

// TestPrint: Print prints one canvas as long as its document, without what is around it, and
// the page is as before when the dialog has closed. A browser's own print has no controls.
func TestPrint(t *testing.T) {
	t.Parallel()
	one := helloSite("one")
	one.files["index.html"] += `<div style="height: 3000px">long</div>`
	e := start(t, nil, one, helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	before := webtest.Eval[string](t, p, printed)
	webtest.Eval[any](t, p, `void (window.print = () => { window.printed = true; })`) // the dialog waits for a person
	choose(t, p, "Print")
	p.Wait(t, `window.printed`)
	p.EmulateMedia(t, "print")
	p.Wait(t, printed+` === "card" && document.querySelector(".card:not([hidden]) iframe").offsetHeight > 3000`)
	webtest.Eval[any](t, p, `void dispatchEvent(new Event("afterprint"))`)
	if got, want := webtest.Eval[string](t, p, printed), "card,header,card,header"; got != want {
		t.Errorf("printed by the browser's own menu: %q, want %q", got, want)
	}
	p.EmulateMedia(t, "")
	if got := webtest.Eval[string](t, p, printed); got != before {
		t.Errorf("after the print the page shows %q, want %q", got, before)
	}
}

// finger are the flags of a browser in which people point with a finger; a page that is
// resized has a mouse again.
func finger(size string) []string {
	return []string{"blink-settings=primaryPointerType=2,availablePointerTypes=2,primaryHoverType=1,availableHoverTypes=1", "window-size=" + size}
}

// TestGripOnTouch: a finger can take the grip of a canvas, which covers little of the canvas
// and nothing of the next one's controls.
func TestGripOnTouch(t *testing.T) {
	t.Parallel()
	e := start(t, nil, manySites(4)...)
	p := webtest.Start(t, finger("1280,860")...).Open(t, e.link)
	shown(t, p, 4)
	p.Wait(t, `matchMedia("(pointer: coarse)").matches && document.getAnimations().length === 0`)
	got := webtest.Eval[[]string](t, p, `[...document.querySelectorAll(".card")].flatMap((card) => {
		const grip = card.querySelector(".grip"), g = grip.getBoundingClientRect(), stage = card.querySelector(".stage").getBoundingClientRect(), faults = [];
		if (g.width < 44 || g.height < 44 || getComputedStyle(grip).opacity !== "1") faults.push("it is " + g.width + " x " + g.height);
		if (stage.right - g.left > 34.5 || stage.bottom - g.top > 34.5) faults.push("it covers " + (stage.right - g.left) + " x " + (stage.bottom - g.top) + " of the canvas");
		for (const b of document.querySelectorAll(".card button")) {
			const r = b.getBoundingClientRect();
			if (b.checkVisibility() && r.left < g.right && g.left < r.right && r.top < g.bottom && g.top < r.bottom) faults.push("it covers " + b.className);
		}
		return faults;
	})`)
	if len(got) > 0 || webtest.Eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`) > 0 {
		t.Errorf("the grips: %q, or the page is wider than the window", got)
	}
	save(t, "touch-grip", p)
}
