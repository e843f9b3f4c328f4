package a2uicanvas_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestLocalEdits: an edit changes what is bound to it at once, and nothing leaves the page.
// Checks that combine several fields enable a button, whose event has all of them.
func TestLocalEdits(t *testing.T) {
	s := newStage(t)
	s.open("a2ui", "x", `{"messages":`+find(t, "30_live-invitation-builder").json()+`}`)
	v := s.screen(webtest.Start(t))
	v.wait(`says().includes("Tuesday, July 15, 2025 at 7:00 PM")`)
	v.do(`type("input[type=text]", "Winter Ball")`)
	v.wait(`all("h2").some((h) => h.textContent === "Winter Ball")`)
	v.do(`button("Grand Ballroom").click()`)
	v.wait(`says().includes("Location: ballroom")`)
	if s.events() != nil {
		t.Errorf("edits sent %q", s.events())
	}
	s.apply("x", `[{"version":"v0.9","deleteSurface":{"surfaceId":"gallery-invitation-builder"}}]`)
	s.apply("x", find(t, "32_advanced-form-validator").json())
	v.wait(`button("Submit Registration").disabled`)
	v.do(`type("input[type=text]", "ada@example.com")`)
	v.do(`all("input[type=text]").forEach((e, n) => { e.value = ["ada@example.com", "", "12345"][n]; e.dispatchEvent(new w.InputEvent("input", { bubbles: true })); })`)
	v.do(`at("input[type=checkbox]").click()`)
	v.wait(`!button("Submit Registration").disabled`)
	v.do(`button("Submit Registration").click()`)
	v.tab.Wait(t, `document.body.innerText.includes("Working…")`)
	if e := s.events(); len(e) != 1 || !strings.Contains(e[0], `"context":{"data":{"agree":true,"email":"ada@example.com","phone":"","zip":"12345"}}`) {
		t.Errorf("events %q", e)
	}
	s.apply("x", `[{"version":"v0.9","deleteSurface":{"surfaceId":"gallery-advanced-validator"}}]`)
	s.apply("x", find(t, "36_modal").json())
	v.do(`button("Open Modal").click()`)
	v.wait(`all("dialog, .a2ui-modal, [role=dialog]").some((e) => e.getBoundingClientRect().width > 0) && says().includes("This is the content inside the modal.")`)
}

const rows = `[{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"` + a2ui.BasicCatalogID + `"}},
	{"version":"v0.9","updateComponents":{"surfaceId":"s","components":[{"id":"root","component":"List","children":{"path":"/items","componentId":"row"}},
		{"id":"row","component":"Button","child":"name","action":{"event":{"name":"pick","context":{"item":{"path":"name"},"all":{"path":"/items/0/name"}}}}},{"id":"name","component":"Text","text":{"path":"name"}}]}},
	{"version":"v0.9","updateDataModel":{"surfaceId":"s","value":{"items":[{"name":"Apple"},{"name":"Banana"},{"name":"Cherry"}]}}}]`

// TestTemplates: a button in a row resolves its context in that row.
func TestTemplates(t *testing.T) {
	s := newStage(t)
	s.open("a2ui", "x", `{"messages":`+rows+`}`)
	v := s.screen(webtest.Start(t))
	v.do(`button("Banana").click()`)
	v.tab.Wait(t, `document.body.innerText.includes("Working…")`)
	if e := s.events(); len(e) != 1 || !strings.Contains(e[0], `"context":{"all":"Apple","item":"Banana"}`) || strings.Contains(e[0], "dataModel") {
		t.Errorf("events %q", e)
	}
	if got := v.eval(`all(".goes").length`); got != "0" {
		t.Error("a surface without sync and hidden fields says where input goes")
	}
}

// TestReplayKeepsTyping: a page that requests everything again keeps what the person typed
// and did not send, unless the agent has changed that place. Surfaces appear in the order
// of their creation, and a component that arrives later is drawn.
func TestReplayKeepsTyping(t *testing.T) {
	s := newStage(t)
	field := func(id, label string) string {
		return `{"version":"v0.9","createSurface":{"surfaceId":"` + id + `","catalogId":"` + a2ui.BasicCatalogID + `"}},{"version":"v0.9","updateComponents":{"surfaceId":"` + id + `","components":[{"id":"root","component":"Column","children":["a","b","later"]},
			{"id":"a","component":"TextField","label":"` + label + `","value":{"path":"/a"}},{"id":"b","component":"TextField","label":"B","value":{"path":"/b"}}]}}`
	}
	s.open("a2ui", "x", `{"messages":[`+field("one", "One")+`,`+field("two", "Two")+`]}`)
	v := s.screen(webtest.Start(t))
	v.wait(`all("label").map((l) => l.textContent).join() === ",One,B,Two,B" || all("a2ui-surface").length === 2`)
	v.do(`all("input[type=text]").forEach((e, n) => { e.value = "typed " + n; e.dispatchEvent(new w.InputEvent("input", { bubbles: true })); })`)
	s.apply("x", `[{"version":"v0.9","updateDataModel":{"surfaceId":"one","path":"/b","value":"of the agent"}},{"version":"v0.9","updateComponents":{"surfaceId":"two","components":[{"id":"later","component":"Text","text":"Arrived later"}]}}]`)
	v.wait(`says().includes("Arrived later")`)
	const values = `all("input[type=text]").map((e) => e.value).join()`
	v.wait(values + ` === "typed 0,of the agent,typed 2,typed 3"`)
	v.do(`w.first = at("a2ui-surface"), d.dispatchEvent(new w.Event("visibilitychange"))`)
	v.wait(`w.first !== at("a2ui-surface") && ` + values + ` === "typed 0,of the agent,typed 2,typed 3"`)
	if got := v.eval(`all(".surface").map((e) => e.getAttribute("aria-label")).join()`); got != "one,two" {
		t.Errorf("surfaces %s", got)
	}
}

// TestRendererFails: a surface that the renderer cannot draw is a box with its id, the
// others stay, and the agent receives the error once.
func TestRendererFails(t *testing.T) {
	s := newStage(t)
	s.open("a2ui", "x", `{"messages":`+rows+`}`)
	v := s.screen(webtest.Start(t))
	v.wait(`says().includes("Cherry")`)
	v.do(`w.customElements.get("a2ui-divider").prototype.render = () => { throw new Error("cannot draw this"); }`)
	s.apply("x", `[{"version":"v0.9","createSurface":{"surfaceId":"bad","catalogId":"`+a2ui.BasicCatalogID+`"}},{"version":"v0.9","updateComponents":{"surfaceId":"bad","components":[{"id":"root","component":"Divider"}]}}]`)
	v.wait(`at(".failed").textContent.includes("bad") && says().includes("Cherry")`)
	v.wait(`true`)
	found := 0
	for _, e := range s.events() {
		if strings.Contains(e, `"code":"RENDERER_FAILED"`) && strings.Contains(e, `"surfaceId":"bad"`) && strings.Contains(e, "cannot draw this") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("events %q", s.events())
	}
}

// TestTooMuchTyped: input beyond 48 KiB goes out without the models, and the agent
// receives the action and an error beside it.
func TestTooMuchTyped(t *testing.T) {
	s := newStage(t)
	s.open("a2ui", "x", `{"messages":`+find(t, "09_login-form").json()+`}`)
	v := s.screen(webtest.Start(t))
	v.do(`type("input[type=password]", "x".repeat(50000))`)
	v.do(`type("input[type=text]", "ada@example.com")`)
	v.wait(`!button("Sign up").disabled`)
	v.do(`button("Sign up").click()`)
	v.tab.Wait(t, `document.body.innerText.includes("Working…")`)
	all := strings.Join(s.events(), "\n")
	if !strings.Contains(all, `"a2ui.action"`) || !strings.Contains(all, `"code":"DATA_MODEL_TOO_LARGE"`) || strings.Contains(all, "xxxx") {
		t.Errorf("events %.600s", all)
	}
}
