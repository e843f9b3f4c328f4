package aapcanvas_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

func skipShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
}

// TestApprove: a press on Approve in AAP's own example is one record, one event and one
// notification, and only the View of the press learns that it was stored.
func TestApprove(t *testing.T) {
	skipShort(t)
	b := webtest.Start(t)
	e := start(t).serve()
	e.write("approval-cards.html", e.upstream("approval-cards.html"))
	e.open("approval-cards.html")
	other, one := e.view(b), e.view(b)
	other.listen()
	one.listen()
	one.click("button.approve")
	rec := e.wait(1)
	if want := `{"id":"pr-42","title":"Add OAuth support","author":"alice","files":8,"additions":340}`; string(rec.Data) != want || rec.Element != "approve" || rec.Action != "click" || rec.CanvasFile != "approval-cards.html" {
		t.Errorf("the record is %+v", rec)
	}
	one.wait(`w.received.some((m) => m.type === "aap:stored" && m.id === "` + rec.ID + `" && m.summary.startsWith("User click 'approve'"))`)
	events := e.events(host.DefaultSession)
	if len(events) != 1 || events[0].InstanceID != "p" || !strings.Contains(string(events[0].Event), `"line":"[CANVAS] approval-cards.html: User click 'approve' on approval-cards.html with data: {`) {
		t.Errorf("events %+v", events)
	}
	e.until("notification", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.lines) == 1 && e.lines[0] == aap.Line(rec) })
	one.tab.Wait(t, `document.body.textContent.includes("Last: click 'approve'")`)

	// The agent answers: the other View, which did not press, shows no bar.
	e.invoke("p", "acknowledge", `{"id":"`+rec.ID+`","note":"Merged."}`)
	one.hasBar(true)
	e.invoke("p", "push", `{"data":{"done":["pr-42"]}}`)
	other.wait(`w.received.some((m) => m.type === "canvas:push")`)
	if got := other.eval(`JSON.stringify(w.received.map((m) => m.type))`); got != `["aap:acknowledged","canvas:push"]` {
		t.Errorf("the other View received %s", got)
	}
	other.hasBar(false)
}

// TestFeedbackForm: the specification's button and form, in the page.
func TestFeedbackForm(t *testing.T) {
	skipShort(t)
	e := start(t).serve()
	e.write("feedback-form.html", e.upstream("feedback-form.html"))
	e.open("feedback-form.html")
	v := e.view(webtest.Start(t))
	v.click("button")
	if rec := e.wait(1); rec.Element != "approve-btn" || string(rec.Data) != `{"approved":true}` {
		t.Errorf("the button gave %+v", rec)
	}
	v.eval(`(at("#rating").value = "4", at("#comment").value = "fine")`)
	v.click("form button")
	if rec := e.wait(2); rec.Action != "submit" || string(rec.Data) != `{"rating":"4","comment":"fine"}` {
		t.Errorf("the form gave %+v", rec)
	}
	v.eval(`at("#rating").value = "9"`) // above its maximum
	v.click("form button")
	v.wait(`!at("form").checkValidity()`)
	v.click("button")
	if rec := e.wait(3); rec.Action != "click" {
		t.Errorf("an invalid form gave %+v", rec)
	}
	v.wait(`w.location.pathname === "/feedback-form.html" && w.location.search === ""`)
}

// TestSingleDocument: the same in single-document mode, whose sandbox suppresses submit
// events, by mouse and keyboard alone; and a rewritten file is loaded again.
func TestSingleDocument(t *testing.T) {
	skipShort(t)
	e := start(t).serveSingle()
	e.write("feedback-form.html", e.upstream("feedback-form.html"))
	e.open("feedback-form.html")
	tab := webtest.Start(t).Open(t, e.link)
	tab.Wait(t, `document.body.textContent.includes("Single-document mode")`)
	press := func() {
		at := webtest.Eval[[2]float64](t, tab, `(({ x, y }) => [x + 40, y + 18])(document.querySelector(".card iframe").getBoundingClientRect())`)
		tab.ClickAt(t, at[0], at[1])
	}
	e.until("a press that arrives", func() bool { press(); return len(e.records()) > 0 })
	tab.Keys(t, "\t5\tfine\t"+kb.Enter)
	var last aap.Record
	e.until("form", func() bool { all := e.records(); last = all[len(all)-1]; return last.Action == "submit" })
	if string(last.Data) != `{"rating":"5","comment":"fine"}` {
		t.Errorf("the form gave %+v", last)
	}
}

// TestForeignFrame: in a renderer that is not ours, the page sends AAP's messages, exactly,
// and nothing else.
func TestForeignFrame(t *testing.T) {
	skipShort(t)
	e := start(t)
	page := string(aap.Inject([]byte(e.upstream("feedback-form.html"))))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><script>window.received = []; addEventListener("message", (e) => heard.push(e.data));</script>
			<iframe sandbox="allow-scripts" width="500" height="300" srcdoc="%s"></iframe>`, html.EscapeString(page))
	}))
	t.Cleanup(srv.Close)
	tab := webtest.Start(t).Open(t, srv.URL)
	tab.Wait(t, `document.readyState === "complete"`)
	at := webtest.Eval[[2]float64](t, tab, `(({ x, y }) => [x + 40, y + 20])(document.querySelector("iframe").getBoundingClientRect())`)
	e.until("a press that arrives", func() bool {
		tab.ClickAt(t, at[0], at[1])
		return webtest.Eval[bool](t, tab, `heard.length > 0`)
	})
	webtest.Eval[int](t, tab, `heard.length = 1`)
	tab.Keys(t, "\t5\tfine\t"+kb.Enter)
	tab.Wait(t, `heard.length > 1`)
	want := `[{"type":"canvas:interaction","action":"click","element":"approve-btn","data":{"approved":true}},` +
		`{"type":"canvas:interaction","action":"submit","element":"feedback-form","data":{"rating":"5","comment":"fine"}}]`
	if got := webtest.Eval[string](t, tab, `JSON.stringify(heard)`); got != want {
		t.Errorf("the parent received\n%s, want\n%s", got, want)
	}
}

// TestRewritten: rule 9 and rule 2: standards mode stays; what a person typed is not taken
// away; an untouched page is loaded again.
func TestRewritten(t *testing.T) {
	skipShort(t)
	e := start(t).serve()
	page := e.upstream("test-results.html")
	e.write("test-results.html", page)
	e.open("test-results.html")
	v := e.view(webtest.Start(t))
	v.wait(`d.compatMode === "CSS1Compat" && all("#rows tr").length === 3`)
	e.write("test-results.html", strings.Replace(page, "<h1>Test Results</h1>", "<h1>Second Results</h1>", 1))
	v.wait(`at("h1").textContent === "Second Results"`)
	v.click("#search")
	v.frame.Keys(t, "login")
	v.wait(`all("#rows tr").length === 1`)
	e.write("test-results.html", strings.Replace(page, "<h1>Test Results</h1>", "<h1>Third</h1>", 1))
	v.hasBar(true)
	if got := v.eval(`at("#search").value + at("h1").textContent`); got != "loginSecond Results" {
		t.Errorf("after a change: %s", got)
	}
	v.click("aap-bar")               // in the middle of the bar is no button
	v.eval(`at("aap-bar").tabIndex`) // the shadow root is closed
	v.wait(`at("aap-bar").shadowRoot === null`)
	right := webtest.Eval[[2]float64](t, v.tab, `(({ right, bottom }) => [right - 50, bottom - 24])(document.querySelector(".card iframe").getBoundingClientRect())`)
	v.tab.ClickAt(t, right[0], right[1]) // Load it
	v.wait(`at("h1").textContent === "Third"`)
	v.tab.Wait(t, `document.body.textContent.includes("Test Results")`) // the document's title
	e.invoke("p", "delete_page", "{}")
	v.hasBar(true)
	v.tab.Wait(t, `document.body.textContent.includes("The agent has removed this page")`)
	e.write("test-results.html", strings.Replace(page, "<h1>Test Results</h1>", "<h1>Back</h1>", 1))
	v.wait(`at("h1").textContent === "Back"`)
}

// variants are pages in which the bridge must be there before the page's own scripts.
var variants = map[string]string{
	"while parsed":     `<!doctype html><html><head><script>maestro.send("a","E")</script></head>`,
	"own bridge":       `<head><script>window.maestro = { send: function (action, element, data) { window.parent.postMessage({ type: "canvas:interaction", action: action }, "*"); } };</script><script>maestro.send("a","E")</script>`,
	"own const":        `<script>const maestro = window.maestro; maestro.send("a","E")</script>`,
	"head lang":        `<html><head lang="en"><script>maestro.send("a","E")</script>`,
	"upper case":       `<HTML><HEAD><SCRIPT>maestro.send("a","E")</SCRIPT>`,
	"doctype, no head": `<!doctype html><p id=x onclick='maestro.send("a","E")'>x</p><script>x.click()</script>`,
	"comment":          `<!-- <head> --><script>maestro.send("a","E")</script>`,
	"head in a script": `<script>"<head>"; maestro.send("a","E")</script>`,
	"mark":             "\ufeff<!doctype html><head><script>if (document.compatMode === 'CSS1Compat' && '\u010d'.length === 1) maestro.send('a','E')</script>",
	"not JSON":         `<script>const o = {}; o.o = o; maestro.send("a", "X", o); maestro.send("a", "X", 1n); maestro.send("a", "X", () => 1); maestro.send("a","E")</script>`,
	"falsy":            `<script>maestro.send("a", "E", 0)</script>`,
	"submit()":         `<form action="/x"><input name=a></form><script>document.forms[0].submit(); maestro.send("a","E")</script>`,
	"stopped submit":   `<form action="/x"><button id=b></button></form><script>document.forms[0].addEventListener("submit", (e) => { e.stopImmediatePropagation(); setTimeout(() => maestro.send("a","E"), 100); }); b.click()</script>`,
	"shadow form":      `<div id=h></div><script>const r = h.attachShadow({mode:"open"}); r.innerHTML = "<form action='/x'><button></button></form>"; r.querySelector("button").click(); setTimeout(() => maestro.send("a","E"), 100)</script>`,
}

// TestVariants: one instance shows each variant in turn: an untouched page is
// loaded again when its file changes.
func TestVariants(t *testing.T) {
	skipShort(t)
	e := start(t).serve()
	e.write("p.html", "<title>first</title>")
	e.open("p.html")
	v := e.view(webtest.Start(t))
	n := 0
	for name, page := range variants {
		n++
		e.write("p.html", strings.ReplaceAll(page, `"E"`, `"`+name+`"`)+strings.Repeat(" ", n))
		if strings.Contains(page, "'E'") {
			name = "E"
		}
		if rec := e.wait(n); rec.Element != name || rec.Data != nil {
			t.Errorf("%s: %+v", name, rec)
		}
		v.wait(`w.location.pathname === "/p.html"`)
	}
	v.wait(`w.maestro.send() === undefined`)
}

// TestNotStoredYet: rule 7: a click that cannot be stored is shown after ten seconds, is
// stored once as soon as that is possible, and the bar goes; one that is refused for good
// is shown at once.
func TestNotStoredYet(t *testing.T) {
	skipShort(t)
	e := start(t).serve()
	e.write("p.html", `<button onclick="maestro.send('click', 'b')">go</button><button id="bad" onclick="maestro.send('', 'b')">bad</button><a id="link" href="https://example.com/x">link</a>`)
	e.write("interactions", "a file where the folder should be")
	e.open("p.html")
	v := e.view(webtest.Start(t))
	v.listen()
	v.click("button")
	v.wait(`w.received.some((m) => m.type === "aap:refused" && m.error === "unavailable")`)
	if shown := v.eval(`Boolean(at("aap-bar"))`); shown != "false" {
		t.Error("the bar comes at once")
	}
	v.hasBar(true)
	e.remove("interactions")
	e.wait(1)
	v.hasBar(false)
	v.click("#bad")
	v.hasBar(true)
	e.wait(1)
	v.click("#link")
	v.tab.Wait(t, `document.querySelector(".address:not([hidden])")?.textContent === "https://example.com/x"`)
}
