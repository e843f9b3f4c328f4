package mcpapp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// published are servers that others published, as testdata/servers pins them.
var published = []struct {
	name, tool, input string
	shows             string // true when the View shows its data
	click             string // the element that a person presses; "" has none
	worked            string // true after the press
}{
	{"system-monitor", "get-system-info", "", "d.body.innerText.length > 50", "", ""},
	{"basic-vanillajs", "get-time", "", "d.body.innerText.length > 10", "", ""},
	{"budget-allocator", "get-budget-data", "", "d.body.innerText.length > 50", "", ""},
	{"cohort-heatmap", "get-cohort-data", "", "d.body.innerText.length > 50", "", ""},
	{"customer-segmentation", "get-customer-data", "", "d.body.innerText.length > 50", "", ""},
	{"scenario-modeler", "get-scenario-data", "", "d.body.innerText.length > 50", "", ""},
	{"debug", "debug-tool", "", "d.body.innerText.length > 50", "", ""},
	{"threejs", "show_threejs_scene", "", "d.querySelector('canvas')", "", ""},
	{"shadertoy", "render-shadertoy", "", "d.querySelector('canvas')", "", ""},
	{"sheet-music", "play-sheet-music", "", "d.querySelector('svg')", "", ""},
	{"transcript", "transcribe", "", "d.body.innerText.length > 10", "", ""},
	{"wiki-explorer", "get-first-degree-links", "", "d.body.innerText.length > 10", "", ""},
	{"video-resource", "play_video", "", "d.body.innerText.length > 5", "", ""},
	{"pdf", "display_pdf", "", "d.body.innerText.length > 10", "", ""},
	{"map", "show-map", "", "true", "", ""},
}

func TestCorpusProbe(t *testing.T) {
	dir := os.Getenv("MCP_SERVERS")
	if dir == "" {
		t.Skip("MCP_SERVERS")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			webtest.Each(t, func(t *testing.T) {
				e := start(t)
				e.add(mcpapp.Server{Name: p.name, Command: []string{node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-"+p.name, "dist/index.js"), "--stdio"}})
				e.mustOpen(p.tool, p.input)
				v := e.view(webtest.Start(t))
				ok := v.frame.WaitAtMost(webtest.Timeout/2, prelude+`(d && d.readyState === "complete" && (`+p.shows+`))})()`)
				v.frame.WaitAtMost(webtest.Timeout/20, "false")
				t.Logf("%v\nWRAPPER %s\nVIEW %.700s\nBUTTONS %.600s", ok, v.eval("h.body.innerText"), v.eval("d?.body?.innerText"), v.eval(`[...d.querySelectorAll("button,select,input")].map((b) => b.outerHTML.slice(0, 120)).slice(0, 12).join("\n")`))
				v.save(p.name)
			}, webtest.Chromium)
		})
	}
}
