package mcpapp_test

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// published are servers that others published, as testdata/servers pins them. Their pages
// use the official App class. Expressions are as in prelude.
var published = []struct {
	name, tool string
	shows      string // true when the View shows its data, or its error if it needs the network
	click      string // the element that a person presses
	worked     string // true after the press
	why        string // true when the card says why it does not work in full without a network
}{
	{"system-monitor", "get-system-info", `/\d+%/.test(d.body.innerText) && d.body.innerText.includes("linux")`, `#poll-toggle-btn`, `d.querySelector("#poll-toggle-btn").textContent.trim() === "Start"`, ""},
	{"basic-vanillajs", "get-time", `/\d{4}-\d\d-\d\dT/.test(d.body.innerText)`, `#get-time-btn`, `d.body.innerText !== w.before && /\d{4}-\d\d-\d\dT/.test(d.body.innerText)`, ""},
	{"budget-allocator", "get-budget-data", `d.body.innerText.includes("Marketing")`, `.slider`, `d.body.innerText !== w.before`, ""},
	{"cohort-heatmap", "get-cohort-data", hasCohorts, `select`, `d.body.innerText !== w.before && ` + hasCohorts, ""},
	{"customer-segmentation", "get-customer-data", `/Enterprise\s*\(\d+\)/.test(d.body.innerText)`, `#x-axis`, `d.querySelector("canvas").toDataURL() !== w.drawn`, ""},
	{"scenario-modeler", "get-scenario-data", `d.body.innerText.includes("$63.4K")`, `.slider-input`, `d.body.innerText !== w.before && !d.body.innerText.includes("$63.4K")`, ""},
	{"debug", "debug-tool", `d.body.innerText.includes("ontoolresult:")`, `#send-message-text-btn`, `d.body.innerText !== w.before`, ""},
	{"threejs", "show_threejs_scene", `d.querySelector("canvas").width > 0`, `.fullscreen-btn`, `d.querySelector(".threejs-container.fullscreen")`, ""},
	{"shadertoy", "render-shadertoy", `d.querySelector("canvas").width > 0`, `.fullscreen-btn`, `d.querySelector(".main.fullscreen")`, ""},
	{"pdf", "display_pdf", `d.body.innerText.includes("/ 1") || d.querySelector(".textLayer, #text-layer")?.textContent.includes("Hello")`, `#zoom-in-btn`, `d.body.innerText !== w.before`, ""},
	{"sheet-music", "play-sheet-music", `d.querySelector("svg") && d.body.innerText.includes("Twinkle")`, `.abcjs-midi-loop`, `d.querySelector(".abcjs-midi-loop.abcjs-pushed")`, `h.body.innerText.includes("paulrosen.github.io")`},
	{"transcript", "transcribe", `d.body.innerText.includes("Your speech will appear")`, ``, ``, `h.body.innerText.includes("It asked for the microphone")`},
	{"wiki-explorer", "get-first-degree-links", `d.querySelector("canvas")`, `canvas`, `d.querySelector(".popup-error").textContent === "fetch failed"`, `d.querySelector(".popup-error").textContent`},
	{"video-resource", "play_video", `d.body.innerText.includes("Error loading video")`, ``, ``, `d.querySelector("#error-message").textContent === "fetch failed"`},
	{"map", "show-map", `d.body.innerText.includes("Failed to load CesiumJS")`, ``, ``, `h.body.innerText.includes("It asked for *.openstreetmap.org, cesium.com") && h.body.innerText.includes("This app has not started.")`},
}

// hasCohorts is true once the table of cohort-heatmap is shown.
const hasCohorts = `!d.body.innerText.includes("Loading") && (d.body.innerText.match(/\d+/g) ?? []).length > 60`

// installed returns the folder of the published servers.
func installed(t *testing.T) string {
	t.Helper()
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("AHP_LONG=1 and npm packages of 310 MB are needed")
	}
	dir := filepath.Join(os.TempDir(), "ahp-canvas-mcp-servers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", "servers", name))
		if err != nil {
			t.Fatal(err)
		}
		if old, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(old, b) {
			_ = os.RemoveAll(filepath.Join(dir, "node_modules"))
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@modelcontextprotocol", "ext-apps")); err == nil {
		return dir
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm ci: %v\n%s", err, out)
	}
	return dir
}

// TestPublishedServers runs servers that others published: through the page, beside the
// official bridge, and through a relay. What does not work in full says why on its card.
func TestPublishedServers(t *testing.T) {
	dir := installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	var started, initialized, shown, same, worked, relayed int
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			webtest.Each(t, func(t *testing.T) {
				e := start(t)
				command := []string{node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-"+p.name, "dist/index.js"), "--stdio"}
				input := ""
				if p.name == "pdf" {
					file := filepath.Join(t.TempDir(), "hello.pdf")
					if err := os.WriteFile(file, onePagePDF(), 0o600); err != nil {
						t.Fatal(err)
					}
					command, input = append(command, file), string(ahp.MustMarshal(map[string]string{"url": file}))
				}
				e.add(mcpapp.Server{Name: p.name, Command: command})
				started++
				e.mustOpen(p.tool, input)
				b := webtest.Start(t)
				uses := func(v *viewer, picture string) {
					v.wait(`d && d.readyState === "complete" && (` + p.shows + `)`)
					if p.name == "threejs" || p.name == "shadertoy" {
						v.awaitColors()
					}
					if picture == p.name {
						shown++
						if e.showsTheSame(t, b, v, p.tool, p.shows) {
							same++
						}
					}
					if p.click != "" {
						v.press(p.click, p.worked)
					}
					if p.why != "" {
						v.wait(p.why)
					}
					v.save(picture)
				}
				v := e.view(b)
				if v.frame.WaitAtMost(webtest.Timeout/3, prelude+`(h.documentElement.dataset.stage === "ready")})()`) {
					initialized++
				} else if p.name != "map" {
					t.Error("it was not initialized")
				}
				uses(v, p.name)
				if p.name == "pdf" {
					e.interact(t)
				}
				if p.click != "" && p.name != "wiki-explorer" { // which has an error alone to show
					worked++
				}
				v.tab.Close()
				uses(viewAt(t, b, e.relayLink(t)), p.name+"-relay")
				relayed++
			}, webtest.Chromium)
		})
	}
	t.Logf("of %d servers %d start, %d initialize, %d show what they can, %d the same words as under the official bridge, %d are worked by a press, %d do the same through a relay", len(published), started, initialized, shown, same, worked, relayed)
}

// interact works the open PDF as an agent: the server asks its page for the text.
func (e *env) interact(t *testing.T) {
	t.Helper()
	result, err := e.invoke("display_pdf", "app_result", "")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(result)
	text, err := e.invoke("display_pdf", "interact", `{"viewUUID":"`+id+`","action":"get_text","intervals":[{"start":1,"end":1}]}`)
	if err != nil || !strings.Contains(text, "Hello from a PDF") {
		t.Errorf("the text of the page: %s, %v", text, err)
	}
}

// awaitColors waits until the View's canvas is drawn in several colors. A picture of the
// screen is taken, because a WebGL canvas does not keep what it has drawn.
func (v *viewer) awaitColors() {
	v.t.Helper()
	colors := map[color.Color]bool{}
	for end := time.Now().Add(webtest.Timeout); len(colors) < 8; {
		if time.Now().After(end) {
			v.t.Fatalf("the canvas has %d colors", len(colors))
		}
		x, y := v.place(`d.querySelector("canvas")`)
		shot, err := png.Decode(bytes.NewReader(v.tab.Screenshot(v.t)))
		if err != nil {
			v.t.Fatal(err)
		}
		clear(colors)
		for dx := -60; dx < 60; dx += 4 {
			for dy := -60; dy < 60; dy += 4 {
				colors[shot.At(int(x)+dx, int(y)+dy)] = true
			}
		}
	}
}

// TestPublishedOverHTTP runs a published server over HTTP: it ends, returns at its address,
// and shows what it showed, without a call of its tool.
func TestPublishedOverHTTP(t *testing.T) {
	dir := installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	inBrowser(t, func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
		_ = ln.Close()
		run := func() (stop func()) {
			cmd := exec.Command(node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-basic-vanillajs/dist/index.js"))
			cmd.Env = append(os.Environ(), "PORT="+port)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			return sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}
		stop := run()
		defer func() { stop() }()
		e := start(t)
		g, err := e.runner.Add(mcpapp.Server{Name: "remote", URL: "http://localhost:" + port + "/mcp"})
		if err != nil {
			t.Fatal(err)
		}
		_ = g.WaitStarted(t.Context()) // the program may not listen yet
		e.await("the server", func() bool { _, err := e.openCanvas("get-time", ""); return err == nil })
		v := e.view(webtest.Start(t))
		v.wait(`/\d{4}-\d\d-\d\dT/.test(d.body.innerText)`)
		_, _, before := e.request("get-time", "GET", "/-/opening", "")
		v.press("#get-time-btn", `d.body.innerText !== w.before`)
		v.tab.Close()
		stop()
		const again = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-time","arguments":{}}}`
		e.await("the loss", func() bool { e.rpc("get-time", again); return e.availability("get-time") == "stale" })
		stop = run()
		e.await("the server again", func() bool {
			return e.availability("get-time") == "ready" && strings.Contains(e.rpc("get-time", again), `"result"`)
		})
		_, _, after := e.request("get-time", "GET", "/-/opening", "")
		shown := regexp.MustCompile(`\d{4}-\d\d-\d\dT[^"\\]*`)
		if one, two := shown.FindString(before), shown.FindString(after); one == "" || one != two {
			t.Errorf("the canvas showed %q and shows %q", one, two)
		}
	})
}

// press clicks on an element of the View and waits for its effect. A select is changed by a
// key.
func (v *viewer) press(selector, worked string) {
	v.t.Helper()
	element := fmt.Sprintf("d.querySelector(%q)", selector)
	v.eval(`(w.before = d.body.innerText, w.drawn = d.querySelector("canvas")?.toDataURL(), 0)`)
	if v.eval(element+".tagName") == "SELECT" {
		before := v.eval(element + ".value")
		v.click(`d.querySelector("h1, header, body")`) // keys go where the person pressed last
		v.eval(`(` + element + `.focus(), 0)`)
		v.frame.Keys(v.t, kb.ArrowDown)
		v.wait(element + `.value !== "` + before + `"`)
	} else {
		v.click(element)
	}
	for range 5 { // what a canvas has drawn may not take presses yet
		if selector != "canvas" || v.frame.WaitAtMost(2*time.Second, prelude+`(`+worked+`)})()`) {
			break
		}
		v.click(element)
	}
	v.wait(worked)
}

// onePagePDF is a document with one page that says Hello.
func onePagePDF() []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		"<</Length 44>>stream\nBT /F1 24 Tf 40 100 Td (Hello from a PDF) Tj ET\nendstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var at []int
	for n, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%sendobj\n", n+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return []byte(b.String())
}
