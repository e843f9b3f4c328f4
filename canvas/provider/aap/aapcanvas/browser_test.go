package aapcanvas_test

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
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

// TestSandboxed: AAP's three example pages, verbatim, in documents with an opaque origin: in
// single-document mode, where each action is a record, and in a frame of a program that is
// not ours, which receives AAP's messages, exactly, and nothing else.
func TestSandboxed(t *testing.T) {
	skipShort(t)
	b := webtest.Start(t)
	for _, name := range []string{"approval-cards.html", "feedback-form.html", "test-results.html"} {
		e := start(t).serveSingle()
		e.write(name, e.upstream(name))
		e.open(name)
		single := b.Open(t, e.link)
		single.Wait(t, `document.body.textContent.includes("Single-document mode") && document.querySelector(".words").hidden`)
		e.settle(single, `document.querySelector(".card iframe")`)
		act(t, single, `document.querySelector(".card iframe")`, name)
		foreign := b.Open(t, foreignRenderer(t, string(aap.Inject([]byte(e.upstream(name))))))
		e.settle(foreign, `document.querySelector("iframe")`)
		act(t, foreign, `document.querySelector("iframe")`, name)
		want := wantMessages[name]
		foreign.Wait(t, fmt.Sprintf(`heard.length >= %d`, strings.Count(want, "canvas:interaction")))
		if got := webtest.Eval[string](t, foreign, `JSON.stringify(heard)`); got != want {
			t.Errorf("%s: the parent received\n%s, want\n%s", name, got, want)
		}
		if n := strings.Count(want, "canvas:interaction"); n > 0 {
			e.wait(n)
		}
		var got []map[string]any
		for _, r := range e.records() {
			got = append(got, map[string]any{"type": "canvas:interaction", "action": r.Action, "element": r.Element, "data": r.Data})
		}
		if !ahp.Equal(ahp.MustMarshal(got), ahp.Value(want)) && len(got) > 0 {
			t.Errorf("%s: the records are %s, want %s", name, ahp.MustMarshal(got), want)
		}
	}
}

// TestSingleReload: rule 9 in single-document mode.
func TestSingleReload(t *testing.T) {
	skipShort(t)
	e := start(t).serveSingle()
	e.write("p.html", `<script>maestro.send("load", "one")</script>`)
	e.open("p.html")
	webtest.Start(t).Open(t, e.link)
	e.wait(1)
	e.write("p.html", `<script>maestro.send("load", "second")</script>`)
	if rec := e.wait(2); rec.Element != "second" {
		t.Errorf("the second load gave %+v", rec)
	}
}

// wantMessages are the messages of what act does.
var wantMessages = map[string]string{
	"approval-cards.html": `[{"type":"canvas:interaction","action":"click","element":"approve","data":{"id":"pr-42","title":"Add OAuth support","author":"alice","files":8,"additions":340}},` +
		`{"type":"canvas:interaction","action":"click","element":"reject","data":{"id":"pr-43","title":"Fix login bug","author":"bob","files":2,"additions":15}}]`,
	"feedback-form.html": `[{"type":"canvas:interaction","action":"click","element":"approve-btn","data":{"approved":true}},` +
		`{"type":"canvas:interaction","action":"submit","element":"feedback-form","data":{"rating":"5","comment":"fine"}}]`,
	"test-results.html": `[]`,
}

// settle waits until a frame has drawn its document: nothing can be asked in an opaque one.
func (e *env) settle(tab *webtest.Page, frame string) {
	e.t.Helper()
	var before []byte
	e.until("drawn frame", func() bool {
		tab.Wait(e.t, frame)
		webtest.Eval[bool](e.t, tab, `new Promise((r) => setTimeout(() => r(true), 300))`)
		now := tab.Screenshot(e.t)
		same := bytes.Equal(before, now)
		before = now
		return same
	})
}

// act does in an example page what a person does there, by mouse and keyboard alone.
func act(t *testing.T, tab *webtest.Page, frame, name string) {
	t.Helper()
	at := webtest.Eval[[2]float64](t, tab, `(({ x, y, width }) => [x + width - 40, y + 3])(`+frame+`.getBoundingClientRect())`)
	tab.ClickAt(t, at[0], at[1]) // nothing, at the start of the document
	switch name {
	case "approval-cards.html": // Approve of the first card, Reject of the second
		tab.Keys(t, "\t"+kb.Enter+"\t\t\t"+kb.Enter)
	case "feedback-form.html": // Approve; then a rating above its maximum is not submitted
		tab.Keys(t, "\t"+kb.Enter+"\t9\tfine\t"+kb.Enter)
		webtest.Eval[bool](t, tab, `new Promise((r) => setTimeout(() => r(true), 500))`) // the focus goes to the rating
		tab.Keys(t, kb.Backspace+"5\t\t"+kb.Enter)
	case "test-results.html":
		tab.Keys(t, "\tlogin")
	}
}

// foreignRenderer serves a page of a program that is not ours, which shows a document in a
// sandbox and keeps the messages that it receives.
func foreignRenderer(t *testing.T, page string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><script>window.heard = []; addEventListener("message", (e) => heard.push(e.data));</script>
			<iframe sandbox="allow-scripts" width="700" height="500" srcdoc="%s"></iframe>`, html.EscapeString(page))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
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
	v.tab.ClickAt(t, 100, 24) // the person leaves the page, with the pointer too: it is on the header
	webtest.Eval[any](t, v.tab, `void document.getElementById("theme").focus()`)
	e.write("test-results.html", strings.Replace(page, "<h1>Test Results</h1>", "<h1>Third</h1>", 1))
	v.hasBar(true)
	v.tab.Wait(t, `document.querySelector(".badge.waits:not([hidden])")?.title === "The agent has changed this page"`)
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

// TestQueue: rule 7: 64 clicks wait for a host that cannot store them, a further one is
// refused in the bar at once, and those that wait are stored in order when that is possible.
func TestQueue(t *testing.T) {
	t.Parallel()
	skipShort(t)
	e := start(t).serve()
	e.write("p.html", `<button onclick="for (let i = 0; i < 65; i++) maestro.send('click', i < 64 ? 'b' + i : 'refused')">go</button>`)
	e.write("interactions", "a file where the folder should be")
	e.open("p.html")
	v := e.view(webtest.Start(t))
	v.click("button")
	v.hasBar(true)
	e.remove("interactions")
	for _, n := range []int{1, 32} { // each record is synced before the next click leaves
		e.until(fmt.Sprint(n, " records"), func() bool { return len(e.records()) >= n })
	}
	e.wait(64)
	v.eval(`w.maestro.send("click", "b64")`)
	e.wait(65)
	if v.eval(`Boolean(at("aap-bar"))`) != "true" {
		t.Error("the bar does not say that a click was refused")
	}
	for n, r := range e.records() {
		if want := fmt.Sprint("b", n); r.Element != want {
			t.Errorf("record %d is of %s, want %s", n, r.Element, want)
		}
	}
}
