package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// stage is a running host with a folder written by New, open in a browser.
type stage struct {
	t          *testing.T
	dir        string
	host       *host.Host
	tab, frame *webtest.Page
}

func newStage(t *testing.T) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	browser := webtest.Start(t)
	s := &stage{t: t, dir: filepath.Join(t.TempDir(), "Notes")}
	if err := folder.New(s.dir); err != nil {
		t.Fatal(err)
	}
	f, err := folder.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if s.host, err = host.New(host.Options{}); err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, s.host)
	if _, err := s.host.Canvases().Register(canvas.Extension{ID: f.ID()}, f, f.Declarations()...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: f.ID(), InstanceID: "n"}); err != nil {
		t.Fatal(err)
	}
	s.tab = browser.Open(t, s.host.Link(host.DefaultSession))
	s.frame = s.tab.Frames(t, 1, webtest.ContentFrame)[0]
	return s
}

// inner defines w and d, the canvas's window and document, for expressions.
const inner = `(() => { const w = document.querySelector("iframe").contentWindow, d = w.document; return `

func (s *stage) wait(expression string) {
	s.t.Helper()
	s.frame.Wait(s.t, inner+expression+`})()`)
}

func (s *stage) run(expression string) {
	s.t.Helper()
	webtest.Eval[bool](s.t, s.frame, inner+`(`+expression+`, true)})()`)
}

func (s *stage) add(note string) string {
	s.t.Helper()
	v, err := s.host.Canvases().Invoke(s.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "n", ActionName: "add_note", Input: ahp.MustMarshal(map[string]string{"text": note})})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(v)
}

func (s *stage) change(name, old, new string) {
	s.t.Helper()
	name = filepath.Join(s.dir, name)
	b, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(b), old) {
		s.t.Fatalf("%s has no %q: %v", name, old, err)
	}
	if err := os.WriteFile(name+".new", []byte(strings.Replace(string(b), old, new, 1)), 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil { // as editors do
		s.t.Fatal(err)
	}
}

// save saves a screenshot if the variable SCREENSHOTS names a folder.
func (s *stage) save(name string) {
	s.t.Helper()
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "folder-"+name+".png"), s.tab.Screenshot(s.t), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestInTheBrowser: the agent acts in the page and receives what the person sends. The
// first action waits for the page.
func TestInTheBrowser(t *testing.T) {
	s := newStage(t)
	if got := s.add("From the agent"); got != `{"notes":1}` {
		t.Errorf("the page answered %s", got)
	}
	s.wait(`d.querySelector("li").textContent === "From the agent"`)
	s.run(`(d.getElementById("text").value = "<b>From the person</b>", d.querySelector("form button").click())`)
	if got := s.add("Again"); got != `{"notes":3}` {
		t.Errorf("the page answered %s", got)
	}
	s.save("light")
	s.run(`d.getElementById("done").click()`)
	page, err := s.host.Canvases().Events(t.Context(), host.DefaultSession, 0, webtest.Timeout)
	want := `{"message":{"done":true,"notes":["From the agent","<b>From the person</b>","Again"]}}`
	if err != nil || len(page.Events) != 1 || !ahp.Equal(page.Events[0].Event, ahp.Value(want)) {
		t.Errorf("events: %+v, %v", page.Events, err)
	}
	s.wait(`d.getElementById("message").textContent.includes("can read your notes")`)
	s.tab.Resize(t, 390, 844)
	s.save("narrow")
	if os.Getenv("SCREENSHOTS") != "" {
		s.tab.Click(t, "#theme")
		s.tab.Click(t, "#theme")
		s.wait(`d.documentElement.dataset.colorMode === "dark"`)
		s.save("narrow-dark")
	}
}

// TestReloadInTheBrowser: after a change of a file the page shows it at the same scroll
// position, and takes actions again.
func TestReloadInTheBrowser(t *testing.T) {
	s := newStage(t)
	if !webtest.Eval[bool](t, s.tab, `fetch("/view.js").then((r) => r.text()).then((text) => text.includes('"reload"'))`) {
		t.Skip("the page does not know view/1's reload yet")
	}
	s.add("Lost with the page")
	s.change("style.css", "main {", "main { min-height: 5000px;")
	s.wait(`w.getComputedStyle(d.querySelector("main")).minHeight === "5000px" && !d.querySelector("li") && d.readyState === "complete"`)
	s.run(`w.scrollTo(0, 1234)`)
	s.change("index.html", "New note", "Another note")
	s.wait(`d.querySelector("label").textContent === "Another note" && d.readyState === "complete"`)
	s.wait(`w.scrollY === 1234`)
	if got := s.add("After it"); got != `{"notes":1}` {
		t.Errorf("the page answered %s", got)
	}
	s.run(`w.scrollTo(0, 0)`)
	s.save("reloaded")
}
