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
	"github.com/ahp-canvas/ahp-canvas/canvas/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// swaggerVersion is the web application that nobody here wrote.
const swaggerVersion = "swagger-ui-dist@5.35.0"

// swagger returns the folder of the package: SWAGGER_UI_DIST, or fetched by npm.
func swagger(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SWAGGER_UI_DIST"); dir != "" {
		return dir
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", swaggerVersion)
	if err := cmd.Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("npm could not fetch %s: %v", swaggerVersion, err)
		}
		t.Skipf("npm could not fetch %s (%v); set SWAGGER_UI_DIST to its folder", swaggerVersion, err)
	}
	return filepath.Join(dir, "node_modules", "swagger-ui-dist")
}

// appFolder is the package with a description of our own in it.
func appFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "swagger-ui")
	if err := os.CopyFS(dir, os.DirFS(swagger(t))); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"description.json": description, "swagger-initializer.js": initializer} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const description = `{"openapi":"3.0.0","info":{"title":"Boards","version":"1"},"paths":{"/cards":{"get":{"summary":"All cards","responses":{"200":{"description":"cards"}}}}}}`

const initializer = `window.onload = () => { window.ui = SwaggerUIBundle({ url: "description.json", dom_id: "#swagger-ui", presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], layout: "StandaloneLayout" }); };`

// TestForeignApp: a multi-file application renders through canvasReadResource
// alone. The browser's proxy is a canary: it would see a request for any place
// that is not this machine, and the page's own list shows the others.
func TestForeignApp(t *testing.T) {
	proxy := newCanary(t)
	b := webtest.Start(t, "proxy-server=http://"+proxy.host())
	app, err := folder.Open(appFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	e := start(t, nil)
	if _, err := e.host.Canvases().Register(canvas.Extension{ID: app.ID()}, app, app.Declaration()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: app.ID()}); err != nil {
		t.Fatal(err)
	}
	p := b.Open(t, e.link)
	frame := shown(t, p, 1)[0]
	frame.Wait(t, document+`.querySelector(".info .title")?.textContent.startsWith("Boards")`)
	frame.Wait(t, document+`.querySelector("#operations-default-get_cards, .opblock-summary-path")?.textContent.includes("cards")`)
	list := webtest.Eval[[]string](t, frame, `document.querySelector("iframe").contentWindow.performance.getEntriesByType("resource").map((r) => r.name)`)
	own := webtest.Eval[string](t, frame, "location.origin") + "/"
	for _, url := range list {
		if !strings.HasPrefix(url, own) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("a request to another origin: %s", url)
		}
	}
	if !slices.Contains(list, own+"swagger-ui-bundle.js") || !slices.Contains(list, own+"description.json") {
		t.Errorf("the list of requests is not this page's: %v", list)
	}
	save(t, "swagger", p)
	// The canary can sing, and all that was heard before is heard by now.
	b.Try(t, "http://away.example/")
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

// browserErrand is what Chromium itself asks for, whatever page is open.
var browserErrand = regexp.MustCompile(`^\w+ (https?://)?[\w.-]+\.(google|googleapis|gvt1|gstatic)\.com[:/ ]`)
