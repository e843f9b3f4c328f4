package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// The bar of a card: what it asks, what the canvas says in it, and how often it changed.
const (
	askedText = `(document.querySelector(".asked:not([hidden]) p")?.textContent ?? "")`
	askedSays = `(document.querySelector(".asked:not([hidden]) .says:not([hidden])")?.textContent ?? "")`
	armed     = `document.querySelector(".asked:not([hidden]) button:not([type])")?.ariaDisabled === "false"`
)

// agree presses the first button of the bar once it works, decline the second.
func agree(t *testing.T, p *webtest.Page) {
	t.Helper()
	p.Wait(t, armed)
	webtest.Eval[any](t, p, `document.querySelector(".asked button:not([type])").click()`)
}

func decline(t *testing.T, p *webtest.Page) {
	t.Helper()
	webtest.Eval[any](t, p, `document.querySelector(".asked button[type=button]").click()`)
}

// pressInside clicks in the middle of the canvas, as a person does.
func pressInside(t *testing.T, p *webtest.Page) {
	t.Helper()
	at := webtest.Eval[[]float64](t, p, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(), h = document.querySelector(".card h2").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2, h.x + 2, h.y + h.height / 2]; })()`)
	p.ClickAt(t, at[2], at[3]) // from outside: the shield goes when the pointer enters
	p.ClickAt(t, at[0], at[1])
}

// whole is a button that fills the canvas; run(event) is what it does.
const whole = `<title>App</title><button style="position:fixed;inset:0;width:100%">Go</button><script>document.querySelector("button").onclick = (event) => run(event)</script>`

// showWhole opens an app with such a button, on the listener or through the channel.
func showWhole(t *testing.T, b *webtest.Browser, direct bool) (p, frame *webtest.Page) {
	t.Helper()
	a := newApp(t)
	a.page("/whole", whole)
	a.HandleFunc("/made.csv", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="made here.csv"`)
		fmt.Fprint(w, "a,b")
	})
	s := site{id: "one", title: "One", app: a, path: "whole", links: true}
	p = b.Open(t, startWith(t, setup{name: "localhost", direct: direct}, s).link)
	frame = shownAt(t, p, direct)
	frame.Wait(t, document+`.querySelector("button")`)
	return p, frame
}

// TestDialogs: the dialogs of a canvas are a bar on its card, one at a time. What led to a
// question happens again with the answer.
func TestDialogs(t *testing.T) {
	p, frame := showWhole(t, webtest.Start(t), false)
	inCanvas[any](t, frame, `globalThis.run = () => { document.title = String(confirm("Delete \u202Eit?")); }; document.querySelector("button").click()`)
	p.Wait(t, askedSays+` === "Delete it?"`)
	if got := webtest.Eval[string](t, frame, document+`.title`); got != "false" {
		t.Errorf("before the answer, confirm returned %s", got)
	}
	agree(t, p)
	frame.Wait(t, document+`.title === "true"`)
	inCanvas[any](t, frame, `document.querySelector("button").click()`) // an answer is used once
	p.Wait(t, askedSays+` === "Delete it?"`)
	decline(t, p)
	p.Wait(t, askedText+` === ""`)
	if got := webtest.Eval[string](t, frame, document+`.title`); got != "false" {
		t.Errorf("declined, confirm returned %s", got)
	}

	inCanvas[any](t, frame, `globalThis.run = () => { document.title = String(prompt("Name?", "Ann")); }; document.querySelector("button").click()`)
	p.Wait(t, askedSays+` === "Name?" && document.querySelector(".asked input").value === "Ann"`)
	webtest.Eval[any](t, p, `void (document.querySelector(".asked input").value = "Bob")`)
	agree(t, p)
	frame.Wait(t, document+`.title === "Bob"`)

	// From outside of an event the answer waits for the same question.
	p.Wait(t, askedText+` === ""`)
	inCanvas[any](t, frame, `setTimeout(() => { document.title = "later " + confirm("Now?"); })`)
	p.Wait(t, askedText+`.includes("repeat what you did")`)
	agree(t, p)
	frame.Wait(t, `(() => { const w = `+win+`; return w.confirm("Now?"); })()`)

	// A thousand alerts are one bar, and those that do not fit are counted.
	p.Wait(t, askedText+` === ""`)
	webtest.Eval[any](t, p, `void (window.seen = new Set(), new MutationObserver(() => seen.add(`+askedSays+`)).observe(document.querySelector(".card"), { subtree: true, attributes: true, childList: true, characterData: true }))`)
	inCanvas[any](t, frame, `for (let i = 0; i < 1000; i++) alert("no. " + i)`)
	p.Wait(t, `/99[56] more were not shown/.test(`+askedText+`)`)
	if n := webtest.Eval[int](t, p, `document.querySelectorAll(".asked:not([hidden])").length`); n != 1 {
		t.Errorf("%d bars", n)
	}
	agree(t, p)
	p.Wait(t, askedSays+` === "no. 1"`)
	inCanvas[any](t, frame, `location.reload()`)
	p.Wait(t, askedText+` === ""`)
	if got := webtest.Eval[[]string](t, p, `[...seen].filter(Boolean)`); len(got) != 2 {
		t.Errorf("the bar said %q", got)
	}
	// A fresh realm has no bar, and its dialogs are refused by the sandbox: this returns.
	frame = p.Frames(t, 1, webtest.ContentFrame)[0]
	frame.Wait(t, document+`.querySelector("button")`)
	if got := inCanvas[bool](t, frame, `const f = document.createElement("iframe"); document.body.append(f); f.contentWindow.alert(1); parent.alert(2); return f.contentWindow.confirm("x") || parent.confirm("y")`); got {
		t.Error("a native dialog was confirmed")
	}
}

// TestDownloads: a file is saved after a press in the canvas and a confirmation that shows
// its name and size.
func TestDownloads(t *testing.T) {
	p, frame := showWhole(t, webtest.Start(t), false)
	webtest.Eval[any](t, p, `{
		let body;
		URL.createObjectURL = (blob) => { body = blob; return "blob:x"; };
		HTMLAnchorElement.prototype.click = function () { body.text().then((text) => { window.saved = this.download + " " + body.type + " " + text; }); };
	}`)
	const blob = `const a = document.createElement("a"); a.href = URL.createObjectURL(new Blob(["hello"], { type: "text/html" })); a.download = "../x\u202E.exe";`
	inCanvas[any](t, frame, blob+`a.click()`)
	p.Wait(t, askedText+`.includes("without a press")`)
	agree(t, p)
	for _, tt := range []struct{ name, run, says, saved string }{
		{"a link outside of the document", blob + `a.click(); URL.revokeObjectURL(a.href)`, "x.exe, 5 bytes", "x.exe application/octet-stream hello"},
		{"an event on it", blob + `a.dispatchEvent(new MouseEvent("click"))`, "x.exe, 5 bytes", "x.exe application/octet-stream hello"},
		{"a link in the document", blob + `document.body.append(a); a.click(); a.remove()`, "x.exe, 5 bytes", "x.exe application/octet-stream hello"},
		{"a file of the app", `const a = document.createElement("a"); a.href = "/made.csv"; a.download = ""; a.click()`, "made here.csv, 3 bytes", "made here.csv application/octet-stream a,b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.Wait(t, askedText+` === ""`)
			webtest.Eval[any](t, p, `void (window.saved = "")`)
			inCanvas[any](t, frame, `globalThis.run = () => { `+tt.run+` }`)
			pressInside(t, p)
			p.Wait(t, fmt.Sprintf(`%s === %q`, askedSays, tt.says))
			if got := webtest.Eval[string](t, p, `window.saved`); got != "" {
				t.Errorf("saved before the confirmation: %q", got)
			}
			agree(t, p)
			p.Wait(t, fmt.Sprintf(`window.saved === %q`, tt.saved))
		})
	}
}

// TestFilesInPlaceOfDocuments: a link to a file of the app, which a browser would save, is
// offered too, and the document stays.
func TestFilesInPlaceOfDocuments(t *testing.T) {
	for _, direct := range []bool{false, true} {
		t.Logf("on the listener: %v", direct)
		p, frame := showWhole(t, webtest.Start(t), direct)
		inCanvas[any](t, frame, `globalThis.run = () => { location.href = "/made.csv"; }`)
		pressInside(t, p)
		p.Wait(t, askedSays+` === "made here.csv, 3 bytes"`)
		frame.Wait(t, document+`.title === "App"`)
	}
}

// TestLinksOfApps: an app that knows nothing of canvases offers its links to other sites.
func TestLinksOfApps(t *testing.T) {
	p, frame := showWhole(t, webtest.Start(t), false)
	for _, tt := range []struct{ does, want string }{
		{`window.open("https://example.com/a")`, "https://example.com/a"},
		{`const a = Object.assign(document.createElement("a"), { href: "https://example.com/b", target: "_blank" }); document.body.append(a); a.click(); a.remove()`, "https://example.com/b"},
		{`Object.assign(document.createElement("a"), { href: "https://example.com/c" }).click()`, "https://example.com/c"},
	} {
		inCanvas[any](t, frame, tt.does)
		p.Wait(t, fmt.Sprintf(`%s === %q`, shownLink, tt.want))
	}
	inCanvas[any](t, frame, `window.open("http://example.com/")`)
	p.Wait(t, askedText+`.includes("wanted to open another site, which was refused")`)
	inCanvas[any](t, frame, `window.open("/echo?here")`)
	frame.Wait(t, document+`.location.search === "?here"`)
}
