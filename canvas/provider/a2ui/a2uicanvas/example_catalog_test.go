package a2uicanvas_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
)

// gaugeSchema is a catalog with one component, in A2UI's form.
const gaugeSchema = `{
  "catalogId": "https://example.com/catalogs/gauge.json",
  "components": {"Gauge": {"type": "object", "required": ["component", "id", "value"], "additionalProperties": false, "properties": {
    "component": {"const": "Gauge"}, "id": {"type": "string"}, "label": {"type": "string"},
    "value": {"$ref": "common_types.json#/$defs/DynamicNumber"}, "action": {"$ref": "common_types.json#/$defs/Action"}}}}
}`

// gaugeModule draws it.
const gaugeModule = `export default ({ component, components, functions, html, css, values }) => ({
  id: "https://example.com/catalogs/gauge.json",
  components: [component("Gauge", { label: values.string.optional(), value: values.number, action: values.action.optional() },
    ({ label, value, action }) => html` + "`<button @click=${action}>${label} <meter max=100 .value=${value}></meter> ${value} %</button>`" + `,
    css` + "`:host { display: block } meter { width: 4rem }`" + `)],
});`

// A program brings its own catalog, and the module that draws its components. The host
// checks messages against the schema; the page draws them.
func Example_ownCatalog() {
	schema, err := a2ui.Compile(a2ui.CatalogFiles{Catalog: []byte(gaugeSchema)})
	if err != nil {
		log.Fatal(err)
	}
	p := a2uicanvas.New(a2uicanvas.Options{Catalogs: []a2uicanvas.Catalog{{Schema: schema, Module: []byte(gaugeModule)}}})
	h, err := host.New(host.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := h.Add(p); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, err = h.Canvases().Open(ctx, canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "a2ui", InstanceID: "dial"})
	if err != nil {
		log.Fatal(err)
	}
	value, err := h.Canvases().Invoke(ctx, canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "dial", ActionName: "apply", Input: ahp.Value(`{"messages": [
		{"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "https://example.com/catalogs/gauge.json"}},
		{"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [{"id": "root", "component": "Gauge", "label": "Disk", "value": {"path": "/used"}}]}},
		{"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [{"id": "root", "component": "Gauge", "value": "much"}]}}
	]}`)})
	if err != nil {
		log.Fatal(err)
	}
	var answer struct {
		Applied int            `json:"applied"`
		Errors  []a2ui.Failure `json:"errors"`
		Extra   ahp.Value      `json:",embed"`
	}
	if err := ahp.Unmarshal(value, &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Applied, "applied; refused:", answer.Errors[0].Path)
	if err := h.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: 2 applied; refused: /updateComponents/components/0/value
}
