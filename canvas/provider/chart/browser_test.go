package chart_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample/sampletest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

const (
	status = `at("status").textContent`
	points = `all(".point").length`
	here   = `d.activeElement.getAttribute("aria-label")`
	// shown is an expression for the cells of the table.
	shown = `all("#table tr").map((r) => [...r.children].map((c) => c.textContent).join(" ")).join(" | ")`
)

const visits = `{"title":"<i>Visits</i>","source":"Counter","columns":[{"name":"Page","type":"text"},{"name":"Device","type":"text"},{"name":"Visits","type":"number","unit":"k"}],
	"rows":[["/home","Phone",1200],["/home","Desk",-3],["<b>","Phone",20.5]]}`

// TestInTheBrowser: a person changes the query of the sample data by keyboard, the
// agent by its actions, a second page shows the same, and every point can be reached by
// keyboard.
func TestInTheBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
	webtest.Each(t, inTheBrowser, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

func inTheBrowser(t *testing.T) {
	browser := webtest.Start(t)
	b := sampletest.New(t, chart.New(), `{}`)
	two, one := b.View(browser), b.View(browser) // the newest window has the focus
	agree := func(expression, text string) {
		t.Helper()
		one.Shows(expression, text)
		two.Shows(expression, text)
	}
	agree(status, "Revenue by Month and Region")
	agree(`at("source").textContent`, "Sample data: an invented shop, 2025")
	one.Wait(points + ` === 36 && all("#legend li").length === 3`)
	one.Look("chart-lines-light")

	// Points by keyboard: Tab stops at one, arrow keys move, a box shows name and value.
	one.Wait(`all(".point[tabindex='0']").length === 1`)
	one.Eval(`d.querySelector(".point[tabindex='0']").focus()`)
	one.Wait(here + `.startsWith("North, 2025-01: ")`)
	one.Keys(kb.ArrowRight + kb.ArrowDown)
	one.Wait(here + `.startsWith("South, 2025-02: ")`)
	one.Wait(`!at("tip").hidden && at("tip").textContent.startsWith("South, 2025-02")`)
	one.Look("chart-focus")
	one.Keys(kb.End)
	one.Wait(here + `.startsWith("South, 2025-12: ")`)
	one.Keys(kb.Escape)
	one.Wait(`at("tip").hidden`)

	// The agent changes the kind; the focused point keeps the focus.
	b.Invoke("set_query", `{"kind":"bar"}`)
	agree(`all(".point rect").length + " " + at("kind-bar").getAttribute("aria-pressed")`, "36 true")
	one.Wait(here + `.startsWith("South, 2025-12: ")`)
	if events := b.Events(); events != nil {
		t.Errorf("the agent's change is an event: %q", events)
	}

	// The person changes the query by a select and a filter.
	one.Eval(`d.querySelector("select[name=groupBy]").focus()`)
	one.Keys("P")
	agree(status, "Revenue by Product and Region")
	one.Wait(`at("live").textContent === "The chart shows Revenue by Product and Region."`)
	two.Shows(`d.querySelector("select[name=groupBy]").value`, "Product")
	one.Eval(`d.querySelector("#filter-Region summary").click()`)
	one.Eval(`d.querySelector("#filter-Region input").focus()`)
	one.Keys(" ")
	agree(status, "Revenue by Product and Region, only Region South, West")
	agree(`d.querySelector("#filter-Region summary").textContent`, "Region2 of 3")
	agree(`all("#legend .sign").map((s) => s.classList[1]).join()`, "series-1,series-2") // they keep their colors
	one.Dark()
	one.Look("chart-filter-dark")
	one.Press("Escape")
	one.Wait(`!at("filter-Region").open && d.activeElement.matches("summary")`)
	one.Eval(`at("table-button").click()`)
	one.Wait(shown + `.startsWith("Product South West | Tea ")`)
	one.Wait(`at("table").scrollHeight <= at("table").clientHeight`) // the page scrolls, not the table
	one.Look("chart-bars-dark")
	want := []string{
		`{"type":"chart.changed","title":"Sales (sample data)","source":"Sample data: an invented shop, 2025","revision":2,"query":{"measure":"Revenue","aggregate":"sum","groupBy":"Product","splitBy":"Region","filter":{},"kind":"bar","sort":"data"}}`,
		`{"type":"chart.changed","title":"Sales (sample data)","source":"Sample data: an invented shop, 2025","revision":2,"query":{"measure":"Revenue","aggregate":"sum","groupBy":"Product","splitBy":"Region","filter":{"Region":["South","West"]},"kind":"bar","sort":"data"}}`,
	}
	var got []string
	for _, e := range b.Events() {
		event, result, _ := strings.Cut(e, `,"result":`)
		if got = append(got, event+"}"); len(got) == len(want) && !strings.HasSuffix(b.Invoke("get_data", `{}`), `,"result":`+result) {
			t.Errorf("the event has the result %s, which is not the chart's", result)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}

	// Other data: the query is adapted, names are plain text, gaps stay gaps.
	b.Invoke("set_data", visits)
	agree(status, "Visits by Page")
	b.Invoke("set_query", `{"splitBy":"Device"}`)
	thousands := one.Eval(`(1200).toLocaleString()`) // WebKit uses the system's locale: "1200" in C
	agree(shown, "Page Phone Desk | /home "+thousands+"\u00a0k -3\u00a0k | <b> 20.5\u00a0k –")
	agree(`at("title").textContent + " " + at("source").textContent`, "<i>Visits</i> Counter")
	one.Wait(points + ` === 3`)
	if got := b.Invoke("get_query", `{}`); !strings.Contains(got, `"values":["/home","<b>"]`) {
		t.Errorf("the query is %s", got)
	}
	two.Reload() // the state is in the host
	two.Shows(status, "Visits by Page and Device")
	two.Look("chart-negative")
	b.Invoke("set_query", `{"filter":{"Page":[]}}`)
	two.Wait(`!at("nothing").hidden && all("#plot > svg").length === 0`)
	two.Tab.Resize(t, 420, 860)
	two.Look("chart-nothing-narrow")
	b.Invoke("set_query", `{"filter":{}}`)
	two.Wait(points + ` === 3`)
	two.Look("chart-narrow")
}

// TestSmallNumbers: small numbers are exact in the picture, the axis and the table, and
// each series has its own color.
func TestSmallNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
	browser := webtest.Start(t)
	b := sampletest.New(t, chart.New(), `{"columns":[{"name":"Step","type":"text"},{"name":"Rate","type":"number"}],"rows":[["one",0.00421],["two",-0.5]]}`)
	p := b.View(browser)
	p.Shows(`all("#table td").map((c) => c.textContent).join(" ")`, "0.00421 -0.5")
	b.Invoke("set_data", `{"columns":[{"name":"Step","type":"text"},{"name":"Rate","type":"number"}],"rows":[["one",0.004],["two",3e-7]]}`)
	p.Shows(`all(".point").map((c) => c.getAttribute("aria-label")).join()`, "one: 0.004,two: 0.0000003")
	p.Wait(`new Set(all(".axes text[text-anchor=end]").map((l) => l.textContent)).size === all(".axes line").length`)                                                       // all labels differ
	p.Wait(`all(".point rect").every((r) => Number(r.getAttribute("y")) + Number(r.getAttribute("height")) <= Number(d.querySelector(".zero").getAttribute("y1")) + 0.01)`) // above 0, however small
	p.Look("chart-small")
	// Rows without a value are a series, with its own color.
	b.Invoke("set_data", `{"columns":[{"name":"Step","type":"text"},{"name":"Of","type":"text"},{"name":"Rate","type":"number"}],"rows":[["one",null,1],["one","a",2],["one","b",3]],"query":{"splitBy":"Of"}}`)
	p.Shows(`all("#legend li").map((l) => l.textContent + " " + l.querySelector(".sign").classList[1]).join()`, "(empty) series-2,a series-0,b series-1")
}

// names are columns whose names are properties of every JavaScript object.
const names = `{"columns":[{"name":"constructor","type":"text"},{"name":"toString","type":"text"},{"name":"points","type":"number"}],
	"rows":[["A","x",25],["B","y",18]],"query":{"filter":{"toString":["x"]}}}`

// TestNamesOfObjectProperties: a column can be drawn and filtered, whatever its name.
func TestNamesOfObjectProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("starts browsers")
	}
	browser := webtest.Start(t)
	b := sampletest.New(t, chart.New(), names)
	p := b.View(browser)
	p.Shows(status, "points by constructor, only toString x")
	p.Shows(`all(".filter summary").map((s) => s.textContent).join()`, "constructorall,toStringx")
	p.Eval(`at("filter-toString").querySelector("button").click()`)
	p.Shows(status, "points by constructor")
	p.Eval(`at("filter-constructor").querySelector("input").click()`)
	p.Shows(status, "points by constructor, only constructor B")
}
