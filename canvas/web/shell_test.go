package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// busyShell is a page with everything that the shell shows around canvases: one that waits,
// one that works, one that is stale, with titles in Hebrew and Arabic and one that is long.
func busyShell(t *testing.T, b *webtest.Browser) (*env, *webtest.Page) {
	t.Helper()
	sites := manySites(4)
	sites[0].title = "לוח המשימות של הצוות (v2)"
	sites[1].title = "نموذج الموافقة على الإصدار"
	sites[2].title = strings.Repeat("Averylongwordwithoutaspace", 6)
	sites[3].files["copy.json"] = `{}`
	e := start(t, nil, sites...)
	p := b.Open(t, e.link)
	p.Wait(t, `document.querySelectorAll(".card").length === 4`)
	for _, err := range []error{
		e.handle("c00").Attention("נא לאשר את ההפצה"), e.handle("c01").Progress(3, 4, "جار النسخ"), e.handle("c03").OfferCopy("copy.json", "/copy.json"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	e.update(t, "c02", canvas.Updated{Availability: new(session.Stale), Status: ahp.Set("ממתין לך")})
	p.Wait(t, `document.querySelector(".progress:not([hidden])") && document.querySelector(".waits:not([hidden])") && document.querySelector(".badge.stale:not([hidden])")`)
	return e, p
}

// outside names what of the shell is wider than the window, or lies outside of it
// horizontally. Lists that scroll can have more.
const outside = `(() => {
	const scrolls = (e) => { for (let p = e.parentElement; p; p = p.parentElement) if (["auto", "scroll"].includes(getComputedStyle(p).overflowX) && p !== document.body && p.scrollWidth > p.clientWidth) return true; return false; };
	const found = document.documentElement.scrollWidth > innerWidth ? ["the document: " + document.documentElement.scrollWidth] : [];
	for (const e of document.querySelectorAll("button, input, a, summary, h1, h2, p, dialog[open], .menu, .badge, .progress, .undo, .needs, li")) {
		const r = e.getBoundingClientRect(), style = getComputedStyle(e);
		if (!r.width || !r.height || style.visibility === "hidden" || e.closest(".skip, .unseen") || scrolls(e)) continue;
		if (r.left < -1 || r.right > innerWidth + 1) found.push(e.localName + "." + e.className + "#" + e.id + " " + Math.round(r.left) + " to " + Math.round(r.right));
	}
	return found;
})()`

// shellParts are the parts of the shell that a person opens.
var shellParts = []struct{ name, open, shut string }{
	{"cards", "", ""},
	{"switcher", `document.getElementById("switch").click()`, `document.getElementById("switcher").close()`},
	{"gallery", `document.getElementById("open-canvas").click()`, `document.getElementById("gallery").close()`},
	{"menu", `document.querySelector(".card:not([hidden]) .more").click()`, `document.querySelector(".card:not([hidden]) .more").click()`},
	{"people and activity", `for (const d of document.querySelectorAll("details")) d.open = true`, `for (const d of document.querySelectorAll("details")) d.open = false`},
	{"undo", `[...document.querySelectorAll(".card:not([hidden])")].at(-1).querySelector(".close").click()`, `document.querySelector(".undo button").click()`},
}

// TestShellFits: nothing of the shell is cut or needs scrolling to the side at 320 px (400 %
// zoom of 1,280), at 200 % zoom, and with text alone at 200 %; texts of people and agents
// have the direction of their script.
func TestShellFits(t *testing.T) {
	if !long {
		t.Skip("walks through the whole shell: set AHP_LONG=1")
	}
	_, p := busyShell(t, webtest.Start(t))
	for _, size := range []struct {
		width, height int64
		font          string
	}{{320, 640, ""}, {640, 400, ""}, {1280, 800, "200%"}} {
		p.Resize(t, size.width, size.height)
		webtest.Eval[any](t, p, fmt.Sprintf(`void (document.documentElement.style.fontSize = %q)`, size.font))
		p.WaitAtMost(webtest.Timeout/10, fmt.Sprintf(`innerWidth === %d`, size.width)) // Firefox is not that narrow
		for _, part := range shellParts {
			webtest.Eval[any](t, p, `void (() => { `+part.open+` })()`)
			if part.name == "undo" {
				p.Wait(t, `document.querySelector(".undo:not([hidden])")`)
			}
			p.Wait(t, `document.getAnimations().length === 0`)
			if got := webtest.Eval[[]string](t, p, outside); len(got) > 0 {
				t.Errorf("%s at %d px %s: %s", part.name, size.width, size.font, strings.Join(got, "; "))
			}
			save(t, fmt.Sprintf("fits-%s-%d%s", part.name, size.width, strings.TrimSuffix(size.font, "%")), p)
			webtest.Eval[any](t, p, `void (() => { `+part.shut+` })()`)
			if part.name == "undo" {
				p.Wait(t, `!document.querySelector(".undo:not([hidden])")`)
			}
		}
	}
	if got := webtest.Eval[[]string](t, p, `[...document.querySelectorAll("[dir=auto]")].filter((e) => e.textContent.trim() && !e.closest("[hidden]")).filter((e) => {
		const strong = e.textContent.match(/\p{L}/u)?.[0] ?? "";
		return strong && /[\u0590-\u06ff]/.test(strong) !== (getComputedStyle(e).direction === "rtl");
	}).map((e) => e.className + ": " + e.textContent)`); len(got) > 0 {
		t.Errorf("wrong direction: %q", got)
	}
	if got := webtest.Eval[[]string](t, p, `[...document.querySelectorAll(".card h2, .card .status, .waits, .progress span, .tab .name, .needs strong, .needs span, #happened span")].filter((e) => !e.closest("[dir=auto]")).map((e) => e.className)`); len(got) > 0 {
		t.Errorf("without dir=auto: %q", got)
	}
}

// TestKeyboardReachesEverything: Tab reaches every control of the shell that can be seen, and
// each shows that it has the focus. Tabs and lines of menus have the arrow keys.
func TestKeyboardReachesEverything(t *testing.T) {
	if !long {
		t.Skip("walks through the whole shell: set AHP_LONG=1")
	}
	_, p := busyShell(t, webtest.Start(t))
	webtest.Eval[any](t, p, `void (() => {
		for (const d of document.querySelectorAll("details")) d.open = true;
		document.querySelector(".card .maximize").click(); // the others are tabs
		document.querySelector(".card .maximize").click();
		window.reached = new Set(), window.dull = new Set();
		addEventListener("focusin", ({ target: e }) => {
			reached.add(e);
			const style = getComputedStyle(e);
			if (e.localName !== "iframe" && e.id !== "canvases" && !(style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1)) dull.add(e);
		});
		document.activeElement.blur();
	})()`)
	missed := func() []string {
		return webtest.Eval[[]string](t, p, `[...document.querySelectorAll("button, input, a[href], summary, [tabindex='0']")].filter((e) =>
			!reached.has(e) && e.tabIndex >= 0 && !e.inert && e.checkVisibility({ visibilityProperty: true }) && !e.closest("dialog:not([open])")).map((e) => e.localName + "." + e.className + "#" + e.id + " " + (e.ariaLabel ?? e.textContent).trim().slice(0, 30))`)
	}
	for range 90 {
		p.Keys(t, kb.Tab)
	}
	if left := missed(); len(left) > 0 {
		t.Errorf("Tab does not reach %s", strings.Join(left, "; "))
	}
	if dull := webtest.Eval[[]string](t, p, `[...dull].map((e) => e.localName + "." + e.className)`); len(dull) > 0 {
		t.Errorf("without a mark of the focus: %s", strings.Join(dull, "; "))
	}
}

// TestKeyboardDialogs: each dialog and menu opens and closes by keyboard alone, and gives the
// focus back; Escape closes only the newest.
func TestKeyboardDialogs(t *testing.T) {
	if !long {
		t.Skip("walks through the whole shell: set AHP_LONG=1")
	}
	_, p := busyShell(t, webtest.Start(t))
	focus(t, p, "Hello c03", ".maximize")
	p.Keys(t, "\r")
	p.Wait(t, visible+` === "c03"`)
	menu := func(line string) {
		t.Helper()
		focus(t, p, "Hello c03", ".more")
		p.Keys(t, "\r")
		p.Wait(t, `document.activeElement.closest(".menu")`)
		lines := webtest.Eval[[]string](t, p, `[...document.querySelectorAll(".menu button")].map((b) => b.textContent)`)
		for range slices.Index(lines, line) {
			p.Keys(t, kb.ArrowDown)
		}
		p.Wait(t, fmt.Sprintf(`document.activeElement.textContent === %q`, line))
		p.Keys(t, "\r")
	}
	menu("Save a copy…")
	p.Wait(t, `document.querySelector(".ask[open]") && document.activeElement.textContent === "Save"`)
	p.Keys(t, kb.Escape)
	p.Wait(t, `!document.querySelector(".ask") && `+visible+` === "c03"`) // still maximized
	menu("Private: agents cannot look")
	p.Wait(t, `document.querySelector(".card:not([hidden]) .private").ariaPressed === "true"`)
	for _, d := range []struct{ button, dialog string }{{"switch", "switcher"}, {"open-canvas", "gallery"}} {
		webtest.Eval[any](t, p, `document.getElementById("`+d.button+`").focus()`)
		p.Keys(t, "\r")
		p.Wait(t, `document.getElementById("`+d.dialog+`").open`)
		p.Keys(t, kb.Escape)
		p.Wait(t, `!document.getElementById("`+d.dialog+`").open && document.activeElement.id === "`+d.button+`" && `+visible+` === "c03"`)
	}
	menu("Close")
	p.Wait(t, `document.activeElement.closest(".undo")`)
	p.Keys(t, "\r")
	p.Wait(t, `!document.querySelector(".undo:not([hidden])") && document.querySelectorAll(".card:not([data-closing=here])").length === 4`)
}

// TestCoarsePointer: where people point with a finger, everything that they press is at least
// 44 px high and wide.
func TestCoarsePointer(t *testing.T) {
	if !long {
		t.Skip("walks through the whole shell: set AHP_LONG=1")
	}
	for _, size := range []string{"700,900", "1280,860"} {
		_, p := busyShell(t, webtest.Start(t, finger(size)...))
		for _, part := range shellParts {
			webtest.Eval[any](t, p, `void (() => { `+part.open+` })()`)
			if part.name == "undo" {
				p.Wait(t, `document.querySelector(".undo:not([hidden])")`)
			}
			p.Wait(t, `matchMedia("(pointer: coarse)").matches && document.getAnimations().length === 0`)
			if got := webtest.Eval[[]string](t, p, small); len(got) > 0 {
				t.Errorf("%s at %s: %s", part.name, size, strings.Join(got, "; "))
			}
			webtest.Eval[any](t, p, `void (() => { `+part.shut+` })()`)
			if part.name == "undo" {
				p.Wait(t, `!document.querySelector(".undo:not([hidden])")`)
			}
		}
	}
}

// small names what of the shell is too small for a finger.
const small = `[...document.querySelectorAll("button, input, summary, .grip")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("dialog:not([open])")).flatMap((e) => {
	const { width, height } = e.getBoundingClientRect();
	return width > 1 && (width < 43.5 || height < 43.5) ? [e.localName + "." + e.className + "#" + e.id + " " + Math.round(width) + " x " + Math.round(height)] : [];
})`
