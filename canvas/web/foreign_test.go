package web_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// foreignApp is an unmodified web application from npm.
type foreignApp struct {
	name, version string
	set           string            // an environment variable that names its folder, instead of npm
	files         map[string]string // of ours, put into a copy of it
	ready         []string          // an expression that is true once it is rendered
	wants         []string          // files in its folder that it must read
}

var foreignApps = []foreignApp{
	{
		name: "swagger-ui-dist", version: "5.35.0", set: "SWAGGER_UI_DIST",
		files: map[string]string{"description.json": description, "swagger-initializer.js": initializer},
		ready: []string{
			document + `.querySelector(".info .title")?.textContent.startsWith("Boards")`,
			document + `.querySelector("#operations-default-get_cards, .opblock-summary-path")?.textContent.includes("cards")`,
		},
		wants: []string{"swagger-ui-bundle.js", "description.json"},
	},
	{ // fonts, images and dynamic imports
		name: "reveal.js", version: "5.2.1", set: "REVEAL_JS",
		files: map[string]string{"index.html": slides, "picture.svg": picture},
		ready: []string{
			document + `.querySelector(".reveal.ready .slides section.present h1")?.textContent === "A canvas"`,
			document + `.fonts.check("16px 'Source Sans Pro'") && [...` + document + `.fonts].some((f) => f.status === "loaded")`,
			document + `.querySelector("img").naturalWidth === 64`,
			document + `.querySelector("code.hljs .hljs-keyword") !== null`,
		},
		wants: []string{"dist/reveal.esm.js", "plugin/highlight/highlight.esm.js", "picture.svg"},
	},
}

// folder returns a copy of the package with our files added.
func (a foreignApp) folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.ReplaceAll(a.name, ".", "-"))
	if err := os.CopyFS(dir, os.DirFS(a.fetch(t))); err != nil {
		t.Fatal(err)
	}
	for name, body := range a.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fetch returns the package's folder.
func (a foreignApp) fetch(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv(a.set); dir != "" {
		return dir
	}
	dir, spec := t.TempDir(), a.name+"@"+a.version
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", spec)
	if err := cmd.Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("npm could not fetch %s: %v", spec, err)
		}
		t.Skipf("npm could not fetch %s (%v); set %s to its folder", spec, err, a.set)
	}
	return filepath.Join(dir, "node_modules", a.name)
}

const slides = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Slides</title>
<link rel="stylesheet" href="dist/reveal.css"><link rel="stylesheet" href="dist/theme/black.css"><link rel="stylesheet" href="plugin/highlight/monokai.css">
<div class="reveal"><div class="slides">
<section><h1>A canvas</h1><img src="picture.svg" alt="a square"></section>
<section><pre><code class="language-go">func main() { return }</code></pre></section></div></div>
<script type="module">
	const { default: Reveal } = await import("./dist/reveal.esm.js");
	const { default: Highlight } = await import("./plugin/highlight/highlight.esm.js");
	await Reveal.initialize({ plugins: [Highlight] });
</script></html>`

const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="teal"/></svg>`

const description = `{"openapi":"3.0.0","info":{"title":"Boards","version":"1"},"paths":{"/cards":{"get":{"summary":"All cards","responses":{"200":{"description":"cards"}}}}}}`

const initializer = `window.onload = () => { window.ui = SwaggerUIBundle({ url: "description.json", dom_id: "#swagger-ui", presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], layout: "StandaloneLayout" }); };`

// TestForeignApp: multi-file applications work over canvasReadResource alone. No
// request reaches another machine: the browser's proxy is a canary, and the page
// lists its other requests.
func TestForeignApp(t *testing.T) {
	t.Parallel()
	for _, a := range foreignApps {
		t.Run(a.name, func(t *testing.T) { a.render(t) })
	}
}

func (a foreignApp) render(t *testing.T) {
	dir := a.folder(t)
	proxy := newCanary(t)
	b := webtest.Start(t, "proxy-server=http://"+proxy.host())
	app, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	e := start(t, nil)
	if _, err := e.host.Canvases().Register(canvas.Extension{ID: app.ID()}, app, app.Declarations()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: app.ID()}); err != nil {
		t.Fatal(err)
	}
	p := b.Open(t, e.link)
	frame := shown(t, p, 1)[0]
	for _, ready := range a.ready {
		frame.Wait(t, ready)
	}
	list := webtest.Eval[[]string](t, frame, `document.querySelector("iframe").contentWindow.performance.getEntriesByType("resource").map((r) => r.name)`)
	own := webtest.Eval[string](t, frame, "location.origin") + "/"
	for _, url := range list {
		if !strings.HasPrefix(url, own) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("a request to another origin: %s", url)
		}
	}
	for _, want := range a.wants {
		if !slices.Contains(list, own+want) {
			t.Errorf("%s is not in the list of requests: %v", want, list)
		}
	}
	save(t, a.name, p)
	// The canary works, and earlier hits have arrived by now.
	b.TryOpen(t, "http://away.example/")
	heard := proxy.lines()
	if !slices.ContainsFunc(heard, func(line string) bool { return strings.Contains(line, "away.example") }) {
		t.Error("a request off this machine did not reach the proxy: this test sees nothing")
	}
	for _, line := range heard {
		if !strings.Contains(line, "away.example") && !browserErrand.MatchString(line) {
			t.Errorf("something went off this machine: %s", line)
		}
	}
}

// browserErrand reports requests that Chromium itself makes with any page.
var browserErrand = regexp.MustCompile(`^\w+ (https?://)?[\w.-]+\.(google|googleapis|gvt1|gstatic)\.com[:/ ]`)
