package form_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample/sampletest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

const trip = `{"title":"Book the trip","description":"I found a hotel.\nAdjust what is <b>wrong</b>, then approve.","approveLabel":"Book it","declineLabel":"Not now","fields":[
	{"name":"who","label":"Traveller","type":"text","value":"Ada <script>","required":true},
	{"name":"nights","label":"Nights","type":"number","value":2,"required":true},
	{"name":"from","label":"Arrival","type":"date","required":true},
	{"name":"room","label":"Room","type":"choice","options":["Single","Double","Suite"],"value":"Single"},
	{"name":"town","label":"Town","type":"choice","options":["Aalen","Bonn","Celle","Dresden","Emden","Fulda"]},
	{"name":"terms","label":"I have read the terms","type":"boolean","required":true},
	{"name":"wishes","label":"Wishes","type":"multiline"}]}`

// TestInTheBrowser: a person fills in a form by keyboard, a second page shows the same,
// the agent changes the question meanwhile, and the answer is an event.
func TestInTheBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
	webtest.Each(t, inTheBrowser, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

func inTheBrowser(t *testing.T) {
	browser := webtest.Start(t)
	b := sampletest.New(t, form.New(), trip)
	two, one := b.View(browser), b.View(browser) // the newest window has the focus
	one.Shows(`at("field-0-input").value`, "Ada <script>")
	one.Shows(`at("status").textContent`, "2 of 4 required fields filled in")
	one.Look("form-light")

	one.Eval(`at("field-1-input").focus()`)
	one.Eval(`at("field-1-input").select()`)
	one.Keys("12")
	two.Shows(`at("field-1-input").value`, "12")
	one.Eval(`at("field-3-input-0").focus()`)
	one.Keys(kb.ArrowRight)
	two.Shows(`all("[type=radio]:checked").map((r) => r.value).join()`, "Double")

	// The agent changes the question while the person types: no input is lost.
	one.Eval(`at("reason").focus()`)
	one.Keys("Quiet room")
	one.Eval(`at("field-0-input").focus()`)
	one.Keys(kb.End + " Lovelace")
	b.Invoke("set_fields", `{"fields":[{"name":"who","label":"Full name","type":"text","required":true},
		{"name":"nights","label":"Nights","type":"number"},{"name":"from","label":"Arrival","type":"date","required":true},
		{"name":"terms","label":"I have read the terms","type":"boolean","required":true},{"name":"wishes","label":"Wishes","type":"multiline"}]}`)
	two.Shows(`d.querySelector("#field-0 label").firstChild.data`, "Full name")
	two.Wait(`at("field-0-input").value === "Ada <script> Lovelace" && at("field-1-input").value === "12"`)
	one.Wait(`d.activeElement === at("field-0-input")`)
	one.Shows(`at("reason").value`, "Quiet room")

	// A try to approve shows what is missing.
	one.Press("Ctrl+Enter")
	one.Shows(`at("problems").textContent`, "2 fields need your attention.")
	one.Wait(`d.activeElement === at("field-2-input") && d.activeElement.getAttribute("aria-invalid") === "true"`)
	one.Wait(`at("live").textContent.includes("Arrival: Fill this in.")`)
	one.Look("form-problems")
	one.Dark()
	one.Look("form-dark")
	if events := b.Events(); events != nil {
		t.Errorf("the agent received %q", events)
	}
	one.Eval(`at("field-2-input").focus()`)
	if browser.Kind == webtest.WebKit { // its date field takes no digits from a driver, on any page
		one.Eval(`at("field-2-input").value = "2026-03-04", at("field-2-input").dispatchEvent(new InputEvent("input", { bubbles: true }))`)
	} else {
		one.Keys("03042026")
	}
	one.Eval(`at("field-3-input").focus()`)
	one.Keys(" ")
	one.Shows(`at("problems").textContent`, "")
	two.Wait(`at("field-3-input").checked`)
	one.Eval(`at("field-0-input").focus()`)
	one.Eval(`at("field-0-input").select()`)
	one.Keys("Ada Lovelace" + kb.Enter) // Enter does not decide
	one.Eval(`at("reason").focus()`)
	one.Keys(kb.End + ", please")
	two.Shows(`at("field-0-input").value`, "Ada Lovelace") // the host has the whole text
	two.Shows(`at("field-2-input").value`, "2026-03-04")
	one.Shows(`at("reason").value`, "Quiet room, please")
	one.Eval(`at("approve").focus()`)
	one.Wait(`d.activeElement === at("approve")`)
	one.Keys(kb.Enter)
	one.Shows(`at("problems").textContent`, "")

	for _, p := range []*sampletest.Page{one, two} {
		p.Shows(`at("decided").textContent + " " + at("why").textContent`, "Approved “Quiet room, please”")
		p.Wait(`at("foot").hidden && at("field-0-input").readOnly && at("field-3-input").disabled`)
		p.Shows(`at("field-0-input").value`, "Ada Lovelace")
	}
	one.Wait(`d.activeElement === at("decision")`)
	want := []string{`{"form":"b","question":"Book the trip","revision":2,"decision":"approved","values":{"from":"2026-03-04","nights":12,"terms":true,"who":"Ada Lovelace"},"reason":"Quiet room, please"}`}
	if diff := cmp.Diff(want, b.Events()); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	one.Look("form-approved-dark")
	one.Tab.Resize(t, 420, 860)
	one.Look("form-approved-narrow")
	two.Reload() // the state is in the host
	two.Shows(`at("decided").textContent`, "Approved")

	b.Invoke("reset", `{}`)
	two.Wait(`!at("foot").hidden && at("field-0-input").value === ""`)
	one.Shows(`at("reason").value`, "") // it belonged to the last decision
	two.Tab.Resize(t, 420, 860)
	two.Look("form-narrow")
	two.Eval(`at("decline").click()`) // declining needs no values
	one.Shows(`at("decided").textContent`, "Declined")
	one.Look("form-declined")
}

// names are field names that are properties of every JavaScript object.
const names = `{"title":"Race","fields":[{"name":"constructor","label":"Constructor","type":"text"},{"name":"toString","label":"Text","type":"choice","options":["a","b"]},
	{"name":"valueOf","label":"Value","type":"number"},{"name":"hasOwnProperty","label":"Own","type":"boolean"}]}`

// TestNamesOfObjectProperties: an empty field is empty, whatever its name.
func TestNamesOfObjectProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
	browser := webtest.Start(t)
	b := sampletest.New(t, form.New(), names)
	p := b.View(browser)
	p.Shows(`all("#fields input").map((i) => i.type === "text" || i.type === "number" ? i.value : String(i.checked)).join()`, ",false,false,true,,false")
	p.Eval(`at("approve").click()`)
	p.Shows(`at("decided").textContent`, "Approved")
	want := []string{`{"form":"b","question":"Race","revision":1,"decision":"approved","values":{"hasOwnProperty":false}}`}
	if diff := cmp.Diff(want, b.Events()); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}
