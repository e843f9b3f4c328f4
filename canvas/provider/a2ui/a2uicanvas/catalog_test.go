package a2uicanvas_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestOwnCatalog: a program's own catalog is drawn by its module beside the basic one, what
// people do in it is an event, agents can read its schema, and remote agents hear of it.
func TestOwnCatalog(t *testing.T) {
	schema, err := a2ui.Compile(a2ui.CatalogFiles{Catalog: []byte(gaugeSchema)})
	if err != nil {
		t.Fatal(err)
	}
	finder := &actor{name: "finder", reply: func(a2ui.Turn) []a2ui.Reply { return nil }}
	s := stageWith(t, host.Options{}, a2uicanvas.Options{Agents: []a2ui.Agent{finder}, Catalogs: []a2uicanvas.Catalog{{Schema: schema, Module: []byte(gaugeModule)}}})
	s.open("a2ui", "x", `{"messages":`+rows+`}`)
	s.apply("x", `[{"version":"v0.9","createSurface":{"surfaceId":"dial","catalogId":"`+schema.ID()+`"}},
		{"version":"v0.9","updateComponents":{"surfaceId":"dial","components":[{"id":"root","component":"Gauge","label":"Disk","value":{"path":"/used"},"action":{"event":{"name":"look","context":{"used":{"path":"/used"}}}}}]}},
		{"version":"v0.9","updateDataModel":{"surfaceId":"dial","value":{"used":42}}}]`)
	v := s.screen(webtest.Start(t))
	v.wait(`at("meter")?.value === 42 && says().includes("Banana") && says().includes("42 %")`)
	s.apply("x", `{"version":"v0.9","updateDataModel":{"surfaceId":"dial","path":"/used","value":43}}`)
	v.wait(`at("meter").value === 43`)
	v.do(`at("meter").closest("button").click()`)
	v.tab.Wait(t, `document.body.innerText.includes("Working…")`)
	if e := s.events(); len(e) != 1 || !strings.Contains(e[0], `"context":{"used":43}`) {
		t.Errorf("events %q", e)
	}
	if got := s.try("x", `{"version":"v0.9","updateComponents":{"surfaceId":"dial","components":[{"id":"root","component":"Text","text":"x"}]}}`); !strings.Contains(got, "has no Text; it has: Gauge") {
		t.Errorf("a component of another catalog: %s", got)
	}
	c := s.mcp()
	call := func(input map[string]any) string {
		return s.tool(c, "invoke_canvas_action", map[string]any{"instanceId": "x", "actionName": "get_catalog", "input": input})
	}
	if got := call(map[string]any{}); !strings.Contains(got, `"catalogs":["`+a2ui.BasicCatalogID+`","`+schema.ID()+`"]`) || !strings.Contains(got, "ChoicePicker") {
		t.Errorf("get_catalog: %.300s", got)
	}
	if got := call(map[string]any{"catalogId": schema.ID(), "component": "Gauge"}); !strings.Contains(got, "DynamicNumber") {
		t.Errorf("get_catalog of the Gauge: %s", got)
	}
	s.open("a2ui-finder", "y", `{"text":"hello"}`)
	v.tab.Wait(t, `document.querySelectorAll(".card").length === 2`)
	for !strings.Contains(finder.seen(), "hello") {
		v.wait(`true`) // a round trip to the page
	}
	if got := finder.seen(); !strings.Contains(got, schema.ID()) {
		t.Errorf("the remote agent does not hear of the catalog: %s", got)
	}
}
