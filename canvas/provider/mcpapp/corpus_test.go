package mcpapp_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// published are servers that others published, as testdata/servers pins them. Their pages
// use the official App class.
var published = []struct {
	name, tool string
	shows      string // true when the View shows its data, or its error if it needs the network
	click      string // the element that a person presses
	worked     string // true after the press
	why        string // why it does not work in full without a network
}{
	{"system-monitor", "get-system-info", `/\d+%/.test(d.body.innerText) && d.body.innerText.includes("linux")`, `#poll-toggle-btn`, `d.querySelector("#poll-toggle-btn").textContent.trim() === "Start"`, ""},
	{"basic-vanillajs", "get-time", `/\d{4}-\d\d-\d\dT/.test(d.body.innerText)`, `#get-time-btn`, `d.body.innerText !== w.before && /\d{4}-\d\d-\d\dT/.test(d.body.innerText)`, ""},
	{"budget-allocator", "get-budget-data", `d.body.innerText.includes("Marketing")`, `.slider`, `d.body.innerText !== w.before`, ""},
	{"cohort-heatmap", "get-cohort-data", `d.body.innerText.includes("80-100%") || d.body.innerText.includes("0-19%")`, `select`, `true`, ""},
	{"customer-segmentation", "get-customer-data", `/Enterprise\s*\(\d+\)/.test(d.body.innerText)`, `#x-axis`, `true`, ""},
	{"scenario-modeler", "get-scenario-data", `d.body.innerText.includes("$63.4K")`, `.slider-input`, `d.body.innerText !== w.before && !d.body.innerText.includes("$63.4K")`, ""},
	{"debug", "debug-tool", `d.body.innerText.includes("ontoolresult:")`, `#send-message-text-btn`, `d.body.innerText !== w.before`, ""},
	{"threejs", "show_threejs_scene", `d.querySelector("canvas").width > 0`, `.fullscreen-btn`, `d.querySelector(".threejs-container.fullscreen")`, ""},
	{"shadertoy", "render-shadertoy", `d.querySelector("canvas").width > 0`, `.fullscreen-btn`, `d.querySelector(".main.fullscreen")`, ""},
	{"pdf", "display_pdf", `d.body.innerText.includes("/ 1") || d.querySelector(".textLayer, #text-layer")?.textContent.includes("Hello")`, `#zoom-in-btn`, `d.body.innerText !== w.before`, ""},
	{"sheet-music", "play-sheet-music", `d.querySelector("svg") && d.body.innerText.includes("Twinkle")`, `.abcjs-midi-loop`, `d.querySelector(".abcjs-midi-loop.abcjs-pushed")`, "its sound comes from paulrosen.github.io"},
	{"transcript", "transcribe", `d.body.innerText.includes("Your speech will appear")`, ``, ``, "it needs the microphone"},
	{"wiki-explorer", "get-first-degree-links", `d.querySelector("canvas")`, ``, ``, "its server needs en.wikipedia.org"},
	{"video-resource", "play_video", `d.body.innerText.includes("Error loading video")`, ``, ``, "its server needs test-videos.co.uk"},
	{"map", "show-map", `d.body.innerText.includes("Failed to load CesiumJS")`, ``, ``, "its page needs cesium.com"},
}

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

// TestPublishedServers runs servers that others published: through the page, and through a
// relay.
func TestPublishedServers(t *testing.T) {
	dir := installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	var started, initialised, shown, clicked, relayed int
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
				v := e.view(b)
				v.wait(`d && d.readyState === "complete" && (` + p.shows + `)`)
				shown++
				if v.frame.WaitAtMost(webtest.Timeout/3, prelude+`(h.documentElement.dataset.stage === "ready")})()`) {
					initialised++
				} else if p.name != "map" {
					t.Error("it was not initialized")
				}
				if p.click != "" {
					v.press(p.click, p.worked)
					clicked++
				}
				v.save(p.name)
				v.tab.Close()
				r := viewAt(t, b, e.relayLink(t))
				r.wait(`d && d.readyState === "complete" && (` + p.shows + `)`)
				if p.click != "" {
					r.press(p.click, p.worked)
				}
				r.save(p.name + "-relay")
				relayed++
			}, webtest.Chromium)
		})
	}
	t.Logf("of %d servers %d start, %d initialize, %d show what they can, %d are worked by a click, %d of them the same through a relay", len(published), started, initialised, shown, clicked, relayed)
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
	v.eval(`(w.before = d.body.innerText, 0)`)
	if v.eval(element+".tagName") == "SELECT" {
		before := v.eval(element + ".value")
		v.click(`d.querySelector("h1, header, body")`) // keys go where the person pressed last
		v.eval(`(` + element + `.focus(), 0)`)
		v.frame.Keys(v.t, kb.ArrowDown)
		v.wait(element + `.value !== "` + before + `"`)
	} else {
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
