package aapcanvas_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/skill"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// hostile is text that would be markup, in every member of a record and in names.
const hostile = `<img src=x onerror=alert(1)>`

// TestListPage: aap-pages in a browser: agents, pages and history are text; a press opens a
// page; older records are loaded; the keyboard is enough; it is accessible.
func TestListPage(t *testing.T) {
	skipShort(t)
	e := start(t)
	record := func(n int, element string) {
		r := aap.Record{ID: fmt.Sprintf("id-%03d", n), Timestamp: fmt.Sprintf("2026-01-01T00:00:00.%03dZ", n), CanvasFile: hostile, Action: hostile, Element: element, Data: ahp.MustMarshal(hostile), Summary: hostile + element}
		e.write("interactions/"+r.FileName(), string(ahp.MustMarshal(r)))
	}
	if _, got := e.tryOpen(aapcanvas.PagesID, "l", "{}"); got != "<nil>" {
		t.Fatal(got)
	}
	e.serve()
	v := e.view(webtest.Start(t))
	v.wait(`at("body").getAttribute("aria-busy") === "false" && at("#empty").textContent.includes("canvas/reports/dashboard.html") && !at("#none").hidden`)
	v.audit("aap-pages-empty")
	for n := range 70 {
		record(n, fmt.Sprint("e", n))
	}
	e.write("interactions/2027-foreign.json", `{"id":7,"summary":{"a":"`+hostile+`"},"element":null,"data":[1]}`)
	e.write("r/p.html", "<p>")
	v.wait(`at("#pages li")?.textContent.includes("r/p.html") && all("#history li").length === 50`)
	v.wait(`all("img").length === 0 && at("#history li:nth-child(2)").textContent.includes("<img src=x onerror=alert(1)>e69")`)
	v.click("#older")
	v.wait(`all("#history li").length === 71 && at("#older").hidden && at("#history li:last-child").textContent.includes("e0")`)
	v.eval(`at("#pages button").focus()`)
	v.frame.Keys(t, kb.Enter)
	v.wait(`at("#pages button").disabled && at("#pages button").textContent === "Open already"`)
	if _, err := e.store.Acknowledge(agent, "id-069", hostile); err != nil {
		t.Fatal(err)
	}
	v.wait(`at(".acknowledged")?.textContent === "The agent: <img src=x onerror=alert(1)>"`)
	v.audit("aap-pages")
	if err := os.MkdirAll(e.root+"/second/canvas", 0o755); err != nil {
		t.Fatal(err)
	}
	e.until("second agent", func() bool { return len(e.store.Agents()) == 2 })
	e.write("r/q.html", "<p>") // the next state has the agents
	v.wait(`all("#agent option").length === 2 && !at("#agents").hidden`)
	v.eval(`(at("#agent").value = "second", at("#agent").dispatchEvent(new Event("change")))`)
	v.wait(`at("#title").textContent === "Pages of second" && all("#history li").length === 0 && !at("#empty").hidden`)
}

// axePath is where "npm ci" in canvas/web puts axe-core.
const axePath = "../../../web/node_modules/axe-core/axe.min.js"

// audit fails on serious violations of accessibility, in both themes, if axe-core is
// installed, and saves a picture if SCREENSHOTS names a folder.
func (v *view) audit(name string) {
	v.t.Helper()
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(dir+"/"+name+".png", v.tab.Screenshot(v.t), 0o644); err != nil {
			v.t.Fatal(err)
		}
	}
	axe, err := os.ReadFile(axePath)
	if err != nil {
		v.t.Logf("%s was not audited: run npm ci in canvas/web", name)
		return
	}
	for _, theme := range []string{"light", "dark"} {
		v.tab.Wait(v.t, `document.documentElement.dataset.colorMode === "`+theme+`" || void document.getElementById("theme").click()`)
		v.wait(`d.documentElement.dataset.colorMode === "` + theme + `"`)
		found := webtest.Eval[string](v.t, v.frame, prelude+`(w.eval(`+string(ahp.MustMarshal(string(axe)))+`),
			w.axe.run(d, { resultTypes: ["violations"] })).then((r) => r.violations.filter((x) => ["serious", "critical"].includes(x.impact))
				.map((x) => x.id + " at " + x.nodes.map((n) => n.target + ": " + n.failureSummary).join("; ")).join("\n"))})()`)
		if found != "" {
			v.t.Errorf("axe, %s, %s: %s", name, theme, found)
		}
	}
}

// TestTemplates: each template of the skill does what the skill says of it.
func TestTemplates(t *testing.T) {
	skipShort(t)
	e := start(t).serve()
	e.write("p.html", "<title>none</title>")
	e.open("p.html")
	v := e.view(webtest.Start(t))
	rec := 0
	for name, steps := range map[string][]string{
		"table.html": {
			`all("tbody tr").length === 5 && at("tbody tr").cells[0].textContent === "api-teams"`,
			`(at("#next").click(), at("tbody tr").cells[0].textContent === "upload" && at("#at").textContent === "Page 2 of 2")`,
			`(at("[data-key=duration]").click(), at("#previous").click(), at("tbody tr").cells[0].textContent === "billing")`,
			`(at("#filter").value = "failed", at("#filter").onchange({ target: at("#filter") }), all("tbody tr").length === 2)`,
			`(at("#search").value = "api", at("#search").oninput({ target: at("#search") }), all("tbody tr").length === 1)`,
			`at("tbody button")` + " -> " + `click run-again {"name":"api-users"}`,
		},
		"metrics.html": {
			`at(".value").textContent === "120" && at("details").textContent.includes("-30 against 150")`,
			`at("summary")` + " -> " + `click latency {"expanded":true}`,
		},
		"form.html": {
			`(at("[name=timeout]").value = "999", at("form button").click(), at("#sent").textContent === "")`,
			`(at("[name=timeout]").value = "20", true)`,
			`at("form button")` + " -> " + `submit config-form {"endpoint":"https://api.example.com","timeout":20,"level":"info"}`,
		},
		"workflow.html": {
			`at("#title").textContent === "Build"`,
			`at("#approve")` + " -> " + `click approve {"step":"build","comment":""}`,
			`at("#title").textContent === "Test"`,
			`at("#reject")` + " -> " + `click reject {"step":"test","comment":""}`,
			`at("#decision").textContent === "Rejected."`,
			`at("#steps li:nth-child(3) button")` + " -> " + `navigate step {"step":"deploy"}`,
		},
		"tree.html": {
			`(at("#all").click(), all("details[open]").length === 2)`,
			`at("li li li button")` + " -> " + `select node {"path":"src/auth/login.go","size":1204}`,
			`(at("#none").click(), all("details[open]").length === 0)`,
		},
	} {
		page := skill.Template(name)
		_, rest, _ := strings.Cut(page, "<title>")
		title, _, _ := strings.Cut(rest, "</title>")
		e.write("p.html", page)
		v.wait(`d.title === "` + title + `" && d.readyState === "complete"`)
		for _, step := range steps {
			element, want, presses := strings.Cut(step, " -> ")
			if !presses {
				v.wait(step)
				continue
			}
			v.eval(element + `.click()`)
			rec++
			if r := e.wait(rec); r.Action+" "+r.Element+" "+string(r.Data) != want {
				t.Errorf("%s: %+v, want %s", name, r, want)
			}
		}
	}
}
