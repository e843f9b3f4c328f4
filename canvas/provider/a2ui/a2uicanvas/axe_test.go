package a2uicanvas_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// faults are the serious and critical findings of axe in the page and its surfaces.
const faults = `w.axe.run(d).then((r) => { w.found = r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160))); })`

// nameless are findings about inputs to which an example gives no label.
var nameless = map[string]string{
	"06_music-player": `label: <input type="range" class="a2ui-slider" min="0" max="1">`,
	"07_task-card":    `label: <input type="checkbox" class="  ">`,
}

// TestAxe: the page and what the renderer draws in it have no serious accessibility fault,
// in light and dark. With AHP_LONG=1 all examples are checked, otherwise three.
func TestAxe(t *testing.T) {
	code, err := os.ReadFile("../../../web/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("needs 'npm ci' in canvas/web")
	}
	s := newStage(t)
	s.open("a2ui", "x", "")
	v := s.screen(webtest.Start(t))
	v.do(`d.head.append(Object.assign(d.createElement("script"), { textContent: ` + string(ahp.MustMarshal(string(code))) + ` }))`)
	short := []string{"09_login-form", "30_live-invitation-builder", "32_advanced-form-validator"}
	for _, e := range examples(t) {
		if os.Getenv("AHP_LONG") != "1" && !slices.Contains(short, e.name) {
			continue
		}
		s.apply("x", e.json())
		v.wait(fmt.Sprintf(`at("a2ui-surface")?.surface.id === %q && says().includes(%q) && says().length > 3`, e.surface, painted[e.name]))
		v.wait(`!says().includes("Loading surface") && all(".failed").length === 0`)
		for _, theme := range []string{"light", "dark"} {
			v.theme(theme)
			for try := 0; ; try++ { // colors change slowly with the theme
				v.do(`w.found = undefined`)
				v.do(faults)
				v.wait(`w.found`)
				diff := cmp.Diff(nameless[e.name], v.eval(`w.found.join("\n")`))
				if diff == "" {
					break
				}
				if try == 10 {
					t.Fatalf("%s, %s:\n%s", e.name, theme, diff)
				}
			}
		}
		s.apply("x", remove(e))
		v.wait(`all("a2ui-surface").length === 0`)
	}
}
