package programtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	cmdrelay "github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relay"
)

// viteFiles is a project whose module replaces itself.
var viteFiles = map[string]string{
	"package.json": `{"type":"module","private":true}`,
	"index.html":   `<!doctype html><title>Vite</title><p id="said"></p><script type="module" src="/main.js"></script>`,
	"main.js":      `import { said } from "./said.js"; globalThis.show = (t) => { document.querySelector("#said").textContent = t; }; show(said); globalThis.kept ??= Math.random(); import.meta.hot.accept("./said.js", (m) => show(m.said));`,
	"said.js":      `export const said = "one";`,
}

// TestVite: an unmodified Vite replaces a module without reloading the page, in a canvas of
// the host's page and in one of a relay's.
func TestVite(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("installs Vite from npm: AHP_LONG=1")
	}
	needNode(t)
	dir := t.TempDir()
	for name, text := range viteFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "install", "vite@6", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		missing(t, "npm does not install Vite: "+string(out))
	}
	m := newMachine(t)
	e := &evidence{whole: t, m: m, frames: map[string]*webtest.Page{}}
	port := freePort(t)
	e.app(t, "Local", filepath.Join(dir, "node_modules", ".bin", "vite"), dir, "--port", port, "--strictPort", "--host", "127.0.0.1")

	tokens, key := filepath.Join(t.TempDir(), "tokens.json"), filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(key, []byte(m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")), 0o600); err != nil {
		t.Fatal(err)
	}
	relay := m.start("relay", "--json", "--listen", "127.0.0.1:0", "--tokens", tokens)
	var at cmdrelay.Line
	if err := json.Unmarshal([]byte(relay.line), &at); err != nil {
		t.Fatal(err)
	}
	app := []string{"--state", "memory", "--canvas-url", "vite=http://127.0.0.1:" + port + "/"}
	near := newMachine(t).serve(app...)
	far := m.serve(append(app, "--relay", at.Relay, "--relay-token-file", key, "--log-level", "info")...)
	far.errs.await(t, `"registered with the relay"`)
	b := webtest.Start(t)
	for _, way := range []struct{ name, link string }{{"through the channel", near.Link}, {"through a relay", far.Link}} {
		t.Run(way.name, func(t *testing.T) {
			said := func(text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "said.js"), []byte(`export const said = "`+text+`";`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			said("one")
			tab := b.Open(t, way.link)
			frame := tab.Frames(t, 1, webtest.ContentFrame)[0]
			const shown = `document.querySelector("iframe")?.contentDocument?.querySelector("#said")?.textContent`
			frame.Wait(t, shown+` === "one"`)
			kept := webtest.Eval[float64](t, frame, win+`.kept`)
			said("two")
			frame.Wait(t, shown+` === "two"`)
			if now := webtest.Eval[float64](t, frame, win+`.kept`); now != kept {
				t.Error("the page was reloaded")
			}
			tab.Close()
		})
	}
}
