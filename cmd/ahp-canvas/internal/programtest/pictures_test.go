package programtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// pictures is the folder of the README's pictures.
const pictures = "../../../../.github/readme"

// TestReadmePictures makes the pictures of the README from the running page:
//
//	AHP_PICTURES=1 go test ./cmd/ahp-canvas/internal/programtest -run TestReadmePictures
func TestReadmePictures(t *testing.T) {
	if os.Getenv("AHP_PICTURES") == "" {
		t.Skip("set AHP_PICTURES=1 to make the pictures of the README")
	}
	m := newMachine(t)
	link := m.serve("--state", "memory").Link
	m.planRelease()
	for name, scheme := range map[string]string{"page-dark": "0", "page-light": "1"} {
		t.Run(name, func(t *testing.T) {
			b := webtest.Start(t, "blink-settings=preferredColorScheme="+scheme, "force-device-scale-factor=1.5", "window-size=1480,920")
			p := b.Open(t, link)
			p.Wait(t, `document.querySelectorAll(".card").length === 3 && [...document.querySelectorAll(".card .words")].every((w) => w.hidden)`)
			webtest.Eval[any](t, p, arrange)
			p.Reload(t)
			for _, f := range p.Frames(t, 3, webtest.ContentFrame) {
				f.Wait(t, filled)
				webtest.Eval[bool](t, f, painted)
			}
			if err := os.WriteFile(filepath.Join(pictures, name+".png"), p.Screenshot(t), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

const (
	// arrange stores a layout, as the page does when a person resizes cards.
	arrange = `localStorage.setItem("layout ahp-session:/default", JSON.stringify({ order: ["release", "chart", "form"],
		sizes: { release: { span: 5 }, chart: { span: 4 }, form: { span: 3 } } }))`
	// filled is true once a canvas shows what the agent gave it, and painted once that is
	// visible.
	filled  = `((d) => d.querySelectorAll("form, svg, li").length > 0 && d.body.innerText.length > 100 && d.getAnimations().length === 0)(document.querySelector("iframe").contentDocument)`
	painted = `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`
)

// planRelease does what an agent does that plans a release with its person.
func (m *machine) planRelease() {
	m.do(0, "close", "board")
	m.openBoard()
	m.openChart()
	m.openForm()
}

// openBoard opens the board "release" with cards.
func (m *machine) openBoard() {
	m.do(0, "open", "board", "--instance", "release", "--input", `{"title":"Release 2.0","lists":["This week","Done"]}`)
	for _, card := range []string{
		`{"list":"This week","title":"Load test","notes":"10,000 users; p99 is 84 ms, the limit 100 ms."}`,
		`{"list":"This week","title":"Update the install guide","notes":"The flag --state replaces --data."}`,
		`{"list":"This week","title":"Write the announcement"}`,
		`{"list":"This week","title":"Ask Ann about the logo"}`,
		`{"list":"Done","title":"Freeze the API","done":true}`,
		`{"list":"Done","title":"Migrate staging","done":true}`,
		`{"list":"Done","title":"Sign the packages","done":true}`,
	} {
		m.do(0, "invoke", "release", "add_card", "--input", card)
	}
}

// openChart opens the chart "chart".
func (m *machine) openChart() {
	m.do(0, "open", "chart", "--instance", "chart", "--input", `{
		"title":"Response time by build", "source":"load test with 10,000 users",
		"columns":[{"name":"Build","type":"text"},{"name":"Percentile","type":"text"},{"name":"Time","type":"number","unit":"ms"}],
		"rows":[["rc1","p50",31],["rc2","p50",29],["rc3","p50",24],["rc4","p50",22],["rc5","p50",21],
			["rc1","p99",142],["rc2","p99",131],["rc3","p99",104],["rc4","p99",91],["rc5","p99",84]],
		"query":{"measure":"Time","aggregate":"average","groupBy":"Build","splitBy":"Percentile","kind":"line"}}`)
}

// openForm opens the form "form", which asks for an approval.
func (m *machine) openForm() {
	m.do(0, "open", "form", "--instance", "form", "--input", `{
		"title":"Publish 2.0 on Thursday?", "description":"All checks pass. I publish the packages and the announcement when you approve.",
		"fields":[{"name":"version","label":"Version","type":"text","value":"2.0.0","required":true},
			{"name":"notes","label":"Release notes","type":"text","value":"Twice as fast, no manual migrations"},
			{"name":"channel","label":"Channel","type":"choice","options":["stable","beta"],"value":"stable"}],
		"approveLabel":"Publish", "declineLabel":"Not yet"}`)
}
