package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// covers names the notices and bars that lie over the visible canvas or over each other.
const covers = `(() => {
	const at = [...document.querySelectorAll(".card:not([hidden]) .stage, .notices p, .undo:not([hidden])")].map((e) => [e.className || e.localName, e.getBoundingClientRect()]);
	return at.flatMap(([a, r], i) => at.slice(i + 1).filter(([, q]) => r.left < q.right && q.left < r.right && r.top < q.bottom && q.top < r.bottom).map(([b]) => a + " and " + b));
})()`

// TestNoticesCoverNothing: in a narrow window, notices and the bar that undoes a close stand
// below the canvas, whose buttons stay free; in a low one they lie over the header. A press
// dismisses a notice.
func TestNoticesCoverNothing(t *testing.T) {
	t.Parallel()
	form := helloSite("form")
	form.files["index.html"] += `<style>#approve { position: fixed; inset: auto 8px 8px; min-height: 44px }</style><button id="approve">Approve</button>`
	e := start(t, nil, form, helloSite("other"), helloSite("third"))
	p := webtest.Start(t).Open(t, e.link+"&canvas=form")
	p.Resize(t, 390, 844)
	p.Wait(t, visible+` === "form" && document.querySelectorAll(".card").length === 3`)
	high := webtest.Eval[float64](t, p, `document.querySelector(".card:not([hidden]) .stage").offsetHeight`)
	webtest.Eval[any](t, p, `void [...document.querySelectorAll(".card")].find((c) => c.textContent.includes("Hello third")).querySelector(".close").click()`)
	if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "other"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `document.querySelector(".notices p") && document.querySelector(".undo:not([hidden])")`)
	if got := webtest.Eval[[]string](t, p, covers); len(got) > 0 {
		t.Errorf("they lie over each other: %q", got)
	}
	p.Wait(t, `document.documentElement.scrollHeight <= innerHeight`) // so nothing has to be scrolled to
	save(t, "notices-390", p)
	p.Resize(t, 740, 360) // a phone on its side, and the page scrolls
	webtest.Eval[any](t, p, `void import("./ui.js").then(({ notice }) => { for (const d of document.querySelectorAll("footer details")) d.open = true; notice("“A long title of a canvas that is not here any more” was closed."); })`)
	p.Wait(t, `document.documentElement.scrollHeight > innerHeight && document.querySelector(".notices p:last-child").textContent.includes("long title") && document.querySelector(".undo:not([hidden])")`)
	if got := webtest.Eval[[]string](t, p, covers); len(got) > 0 {
		t.Errorf("on its side they lie over each other: %q", got)
	}
	save(t, "notices-740", p)
	webtest.Eval[any](t, p, `document.querySelectorAll("footer details").forEach((d) => { d.open = false; }), document.querySelectorAll(".notices p:not(:last-child)").forEach((n) => n.click())`)
	p.Resize(t, 390, 844)
	p.Click(t, ".notices p")
	p.Wait(t, `!document.querySelector(".notices p")`)
	webtest.Eval[any](t, p, `document.querySelector(".undo .now").click()`)
	p.Wait(t, `document.querySelector(".undo").hidden`)
	if got := webtest.Eval[float64](t, p, `document.querySelector(".card:not([hidden]) .stage").offsetHeight`); got != high {
		t.Errorf("the canvas is %v high afterwards, and was %v", got, high)
	}
}

// TestNotified: once the person has asked for it, canvases that wait while the person looks
// elsewhere are notifications of the system, without a sound. A press on one shows its canvas.
func TestNotified(t *testing.T) {
	t.Parallel()
	e := start(t, nil, helloSite("one"), helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	webtest.Eval[any](t, p, `void (() => {
		window.notified = [];
		window.Notification = class {
			static permission = "default";
			static async requestPermission() { return this.permission = "granted"; }
			constructor(title, { body, silent }) { notified.push({ title, body, silent, press: () => this.onclick() }); }
			close() {}
		};
		Object.defineProperty(document, "hidden", { value: true });
		document.querySelector("[aria-labelledby='card-1'] .maximize").click();
	})()`)
	attention := func(id, reason string) {
		t.Helper()
		if err := e.handle(id).Attention(reason); err != nil {
			t.Fatal(err)
		}
	}
	attention("two", "Approve")
	press(t, p, ".needs button:not([data-channel])")
	p.Wait(t, `Notification.permission === "granted" && !document.querySelector(".needs button:not([data-channel])").checkVisibility()`)
	if got := webtest.Eval[int](t, p, `notified.length`); got != 0 {
		t.Errorf("%d notifications before the person asked", got)
	}
	attention("one", "Sign")
	p.Wait(t, `notified.length === 2`)
	if got := webtest.Eval[string](t, p, `JSON.stringify(notified)`); got != `[{"title":"Hello two","body":"Approve","silent":true},{"title":"Hello one","body":"Sign","silent":true}]` {
		t.Errorf("the notifications are %s", got)
	}
	webtest.Eval[any](t, p, `void notified[0].press()`)
	p.Wait(t, visible+` === "two"`)
}
