package a2uicanvas_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// remove takes an example's surface away.
func remove(e example) string {
	return `[{"version":"v0.9","deleteSurface":{"surfaceId":"` + e.surface + `"}}]`
}

// painted are texts that an example shows, besides its icons.
var painted = map[string]string{
	"01_flight-status": "Vienna → New York", "09_login-form": "Welcome back", "13_coffee-order": "$11.66", "16_workout-summary": "32:15",
	"24_recipe-card": "Mediterranean Quinoa Bowl", "30_live-invitation-builder": "Summer Gala", "33_financial-data-grid": "$43,500.25", "34_child-list-template": "Banana",
	"35_markdown-text": "Heading 1", "36_modal": "Open Modal",
}

// TestExamples: every example that A2UI publishes is painted, in light, dark and at 390
// pixels, without an error, and no picture is loaded from elsewhere. The environment
// variable SCREENSHOTS names a folder for pictures of them.
func TestExamples(t *testing.T) {
	s := newStage(t)
	s.open("a2ui", "x", "")
	v := s.screen(webtest.Start(t))
	v.wait(`at("#message").textContent === "The agent has not drawn anything yet."`)
	v.do(`w.failures = [], w.addEventListener("securitypolicyviolation", (e) => w.failures.push("policy: " + e.blockedURI)), w.addEventListener("error", (e) => w.failures.push(e.message)), w.addEventListener("unhandledrejection", (e) => w.failures.push(String(e.reason)))`)
	v.do(`w.console.error = (...m) => w.failures.push(m.map(String).join(" "))`)
	rounds := []struct {
		name, theme   string
		width, height int64
	}{{"light", "light", 900, 900}, {"dark", "dark", 900, 900}, {"narrow", "light", 390, 844}}
	if os.Getenv("SCREENSHOTS") == "" {
		rounds = rounds[2:]
	}
	for _, round := range rounds {
		v.tab.Resize(t, round.width, round.height)
		v.theme(round.theme)
		for _, e := range examples(t) {
			s.apply("x", e.json())
			v.wait(fmt.Sprintf(`at("a2ui-surface")?.surface.id === %q && says().includes(%q) && says().length > 3`, e.surface, painted[e.name]))
			v.wait(`!says().includes("Loading surface") && all(".failed").length === 0`)
			if wide := v.eval(`d.documentElement.scrollWidth > w.innerWidth`); wide != "false" {
				t.Errorf("%s, %s: the page is wider than the window", e.name, round.name)
			}
			v.wait(`all(".surface").every((e) => e.scrollWidth <= e.clientWidth + 1)`) // rows wrap if they must
			v.shot(e.name + "-" + round.name)
			s.apply("x", remove(e))
			v.wait(`all("a2ui-surface").length === 0`)
		}
	}
	if got := v.eval(`w.failures.join("\n")`); got != "" {
		t.Errorf("the page failed:\n%s", got)
	}
	if events := s.events(); events != nil {
		t.Errorf("the page sent %q", events)
	}
}

// TestLogin: typing enables the button, and the click is one event with the resolved
// context and the model of the surface.
func TestLogin(t *testing.T) {
	webtest.Each(t, login, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

func login(t *testing.T) {
	s := newStage(t)
	s.open("a2ui", "x", `{"title":"Sign in","messages":`+find(t, "09_login-form").json()+`}`)
	v := s.screen(webtest.Start(t))
	v.wait(`button("Sign in").disabled && says().includes("Email is required")`)
	v.wait(`at(".goes").textContent === "What you enter here goes to Agent."`)
	v.do(`at("input[type=text]").focus()`)
	v.frame.Keys(t, "ada@example.com")
	v.wait(`!says().includes("valid email")`)
	v.do(`at("input[type=password]").focus()`)
	v.frame.Keys(t, "correct horse")
	v.wait(`!button("Sign in").disabled`)
	if events := s.events(); events != nil {
		t.Errorf("typing sent %q", events)
	}
	v.do(`button("Sign in").click()`)
	v.tab.Wait(t, `document.body.innerText.includes("Working…")`)
	events := s.events()
	if len(events) != 1 {
		t.Fatalf("events %q", events)
	}
	for _, part := range []string{`"type":"a2ui.action"`, `"version":"v0.9"`, `"sourceComponentId":`, `ada@example.com`} {
		if !strings.Contains(events[0], part) {
			t.Errorf("the event lacks %s: %s", part, events[0])
		}
	}
}

// TestBooking: the whole of one use. An agent at the MCP endpoint draws a form and waits,
// a person books in the page, both open pages show the answer, and so does one that is
// opened later. Then the person says "okay, submit", and the model comes with it.
func TestBooking(t *testing.T) {
	s := newStage(t)
	c := s.mcp()
	s.tool(c, "open_canvas", map[string]any{"canvasId": "a2ui", "instanceId": "booking", "input": map[string]any{"title": "Booking", "messages": []any{
		map[string]any{"version": "v0.9", "createSurface": map[string]any{"surfaceId": "s", "catalogId": "https://a2ui.org/catalogs/v1/basic.json", "sendDataModel": true}},
		map[string]any{"version": "v0.9", "updateComponents": map[string]any{"surfaceId": "s", "components": []any{
			map[string]any{"id": "root", "component": "Column", "children": []any{"time", "size", "book", "help"}},
			map[string]any{"id": "time", "component": "TextField", "label": "Time", "value": map[string]any{"path": "/reservationTime"}},
			map[string]any{"id": "size", "component": "Slider", "label": "Guests", "min": 1, "max": 9, "value": map[string]any{"path": "/partySize"}},
			map[string]any{"id": "book", "component": "Button", "child": "label",
				"checks": []any{map[string]any{"condition": map[string]any{"call": "required", "args": map[string]any{"value": map[string]any{"path": "/reservationTime"}}}, "message": "When?"}},
				"action": map[string]any{"event": map[string]any{"name": "submit_reservation", "context": map[string]any{"time": map[string]any{"path": "/reservationTime"}, "size": map[string]any{"path": "/partySize"}, "none": map[string]any{"path": "/none"}}}}},
			map[string]any{"id": "label", "component": "Text", "text": "Book"},
			map[string]any{"id": "help", "component": "Button", "child": "help-label", "action": map[string]any{"functionCall": map[string]any{"call": "openUrl", "args": map[string]any{"url": "https://a2ui.org/help"}}}},
			map[string]any{"id": "help-label", "component": "Text", "text": "Help"},
		}}},
		map[string]any{"version": "v0.9", "updateDataModel": map[string]any{"surfaceId": "s", "path": "/", "value": map[string]any{"partySize": 4, "notes": "Window seat"}}},
	}}})
	b := webtest.Start(t)
	one, two := s.screen(b), s.screen(b)
	one.wait(`button("Book").disabled`)
	one.do(`type("input[type=text]", "7:00 PM")`)
	one.wait(`!button("Book").disabled`)
	two.wait(`at("input[type=text]").value === ""`) // a page keeps what it has not sent
	one.do(`button("Help").click()`)
	one.tab.Wait(t, `document.querySelector(".offer:not([hidden]) .address").textContent === "https://a2ui.org/help"`)
	one.do(`button("Book").click()`)
	waited := s.tool(c, "wait_for_canvas_events", map[string]any{"after": 0, "timeout": 30})
	for _, part := range []string{`"name":"submit_reservation"`, `"context":{"size":4,"time":"7:00 PM"}`, `"dataModel":{"s":{"notes":"Window seat","partySize":4,"reservationTime":"7:00 PM"}}`, `"sourceComponentId":"book"`} {
		if !strings.Contains(waited, part) {
			t.Errorf("the agent received %s, which lacks %s", waited, part)
		}
	}
	if strings.Contains(waited, "a2ui.org/help") || strings.Count(waited, "a2ui.action") != 1 {
		t.Errorf("the function call, or more than one action, reached the agent: %s", waited)
	}
	s.tool(c, "invoke_canvas_action", map[string]any{"instanceId": "booking", "actionName": "apply", "input": map[string]any{"messages": []any{
		map[string]any{"version": "v0.9", "updateComponents": map[string]any{"surfaceId": "s", "components": []any{map[string]any{"id": "root", "component": "Text", "text": "Booked for 7:00 PM"}}}},
	}}})
	for _, v := range []*screen{one, two, s.screen(b)} {
		v.wait(`says() === "Booked for 7:00 PM"`)
	}
	one.do(`(at("#line").value = "okay, submit", at("#send").click())`)
	one.wait(`at("#line").value === ""`)
	last := s.events()[len(s.events())-1]
	if want := `{"type":"a2ui.text","text":"okay, submit","dataModel":{"s":{"notes":"Window seat","partySize":4,"reservationTime":"7:00 PM"}}}`; last != want {
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("the text (-want +got)\n%s", diff)
		}
	}
	one.do(`(at("#line").value = "   ", at("#send").click())`)
	read := s.tool(c, "invoke_canvas_action", map[string]any{"instanceId": "booking", "actionName": "get_data_model", "input": map[string]any{}})
	if !strings.Contains(read, `"live":true`) || !strings.Contains(read, `"reservationTime":"7:00 PM"`) {
		t.Errorf("read %s", read)
	}
	one.wait(`at("#notices").textContent.includes("read what is entered here at")`)
	if n := len(s.events()); n != 2 {
		t.Errorf("%d events: a line of spaces was sent", n)
	}
}
