package page_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// groceries is the example of the declaration.
func groceries(t testing.TB) string {
	t.Helper()
	p := page.New(page.Options{})
	_, example, ok := strings.Cut(p.Declarations()[0].Description, "A complete example:\n")
	if !ok {
		t.Fatal("the declaration has no example")
	}
	return example
}

// stage is a host with a page that is open in browsers.
type stage struct {
	t    testing.TB
	host *host.Host
}

func newStage(t testing.TB, input string) *stage {
	t.Helper()
	return newStageOn(t, input, func(h *host.Host) { hosttest.Serve(t, h) })
}

// newStageOn is newStage on a server of the test.
func newStageOn(t testing.TB, input string, serve func(h *host.Host)) *stage {
	t.Helper()
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	serve(h)
	p := page.New(page.Options{Dir: t.TempDir(), ListOpen: h.Canvases().ListOpen})
	t.Cleanup(p.Close)
	if _, err := h.Add(p); err != nil {
		t.Fatal(err)
	}
	s := &stage{t, h}
	s.open(input)
	return s
}

func (s *stage) open(input string) {
	s.t.Helper()
	_, err := s.host.Canvases().Open(s.t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: page.CanvasID, InstanceID: "p", Input: ahp.Value(input)})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) invoke(action, input string) string {
	s.t.Helper()
	v, err := s.host.Canvases().Invoke(s.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "p", ActionName: action, Input: ahp.Value(input)})
	if err != nil {
		s.t.Fatalf("%s %.200s: %v", action, input, err)
	}
	return string(v)
}

func (s *stage) edit(old, new string) {
	s.t.Helper()
	s.invoke("edit_file", string(ahp.MustMarshal(map[string]any{"path": "index.html", "edits": []map[string]string{{"old": old, "new": new}}})))
}

// awaitEvent waits until an event contains a text.
func (s *stage) awaitEvent(text string) {
	s.t.Helper()
	var all []string
	for after := int64(0); ; {
		p, err := s.host.Canvases().Events(s.t.Context(), host.DefaultSession, after, webtest.Timeout)
		if err != nil || len(p.Events) == 0 {
			s.t.Fatalf("no event has %s: %s, %v", text, all, err)
		}
		for _, e := range p.Events {
			if all = append(all, string(e.Event)); strings.Contains(string(e.Event), text) {
				return
			}
		}
		after = p.Next
	}
}

// viewer is a tab that shows the page.
type viewer struct {
	t          testing.TB
	tab, frame *webtest.Page
}

func (s *stage) view(b *webtest.Browser) *viewer {
	s.t.Helper()
	tab := b.Open(s.t, s.host.Link(host.DefaultSession))
	v := &viewer{s.t, tab, tab.Frames(s.t, 1, webtest.ContentFrame)[0]}
	v.wait(`d.readyState === "complete" && d.querySelector("script[data-ahp-page]")`)
	return v
}

// prelude defines w and d, the page's window and document, tool, which finds an element
// that the host added.
const prelude = `(() => { const f = document.querySelector("iframe"), w = f.contentWindow, d = w.document;
	const tool = (s) => d.querySelector("ahp-page-tools").shadowRoot.querySelector(s);
	return `

func (v *viewer) wait(expression string) {
	v.t.Helper()
	v.frame.Wait(v.t, prelude+`(`+expression+`)})()`)
}

func (v *viewer) eval(expression string) string {
	v.t.Helper()
	return webtest.Eval[string](v.t, v.frame, prelude+`String(`+expression+`)})()`)
}

// click clicks with the mouse on an element of the page, as a person does.
func (v *viewer) click(element string) {
	v.t.Helper()
	in := webtest.Eval[[2]float64](v.t, v.frame, prelude+`(() => { const r = (`+element+`).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()})()`)
	out := webtest.Eval[[2]float64](v.t, v.tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x, r.y]; })()`)
	v.tab.ClickAt(v.t, in[0]+out[0], in[1]+out[1])
}

func (v *viewer) keys(keys string) {
	v.t.Helper()
	v.frame.Keys(v.t, keys)
}

// save saves a screenshot if the variable SCREENSHOTS names a folder.
func (v *viewer) save(name string) {
	v.t.Helper()
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		v.wait(`[...d.getAnimations(), ...d.querySelector("ahp-page-tools")?.shadowRoot.getAnimations() ?? []].every((a) => a.playState !== "running")`)
		if err := os.WriteFile(filepath.Join(dir, "page-"+name+".png"), v.tab.Screenshot(v.t), 0o644); err != nil {
			v.t.Fatal(err)
		}
	}
}

func browsers(t *testing.T, test func(t *testing.T)) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	webtest.Each(t, test, webtest.Chromium)
}

// TestExample runs the example of the declaration: the agent's action and the person's
// click reach each other, two Views share the state.
func TestExample(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStage(t, string(ahp.MustMarshal(map[string]string{"html": groceries(t)})))
		b := webtest.Start(t)
		two, one := s.view(b), s.view(b)
		if got := s.invoke("call", `{"name":"add","input":{"text":"Milk"}}`); got != `{"items":["Milk"]}` {
			t.Errorf("the page answered %s", got)
		}
		one.wait(`d.querySelector("li").textContent === "Milk"`)
		one.click(`d.querySelector("#text")`)
		one.keys("Bread")
		one.click(`d.querySelector("form button")`)
		s.awaitEvent(`{"message":{"added":"Bread"}}`)
		two.wait(`[...d.querySelectorAll("li")].map((l) => l.textContent).join() === "Milk,Bread"`)
		one.save("example")
		if got := s.invoke("read_file", `{"path":".page/state.json"}`); !strings.Contains(got, `{\"items\":[\"Milk\",\"Bread\"]}`) {
			t.Errorf("the state is %s", got)
		}
	})
}

const app = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Plan</title>
<style>body { font: 1rem/1.5 system-ui; margin: 0; padding: 1.5rem; min-height: 3000px } h1 { letter-spacing: -.02em } .card { border: 1px solid var(--border-color-default); border-radius: .75rem; padding: 1rem; max-width: 30rem; margin-block: 1rem } label { display: grid; gap: .25rem } input { font: inherit; padding: .375rem .5rem }</style>
<h1>Launch plan</h1><div class="card"><strong>Week 1</strong><p>Write the announcement, and collect quotes from the first ten users.</p></div>
<div class="card"><strong>Week 2</strong><p>Publish on Tuesday.</p></div><div class="card"><label>Your note <input id="note"></label></div>`

// TestEdits: an edit is shown in every View at its scroll position. A page in which the
// person typed asks first.
func TestEdits(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStage(t, string(ahp.MustMarshal(map[string]string{"html": app})))
		b := webtest.Start(t)
		typed, clean := s.view(b), s.view(b)
		clean.eval(`w.scrollTo(0, 321)`)
		typed.tab.Close()
		typed = s.view(b)
		typed.click(`d.querySelector("#note")`)
		typed.keys("mine")
		s.edit("Publish on Tuesday.", "Publish on Thursday.")
		clean.wait(`d.body.textContent.includes("Thursday") && d.readyState === "complete" && w.scrollY === 321`)
		typed.wait(`tool(".bar p").textContent.startsWith("The agent has changed this page.")`)
		typed.wait(`d.querySelector("#note").value === "mine" && d.body.textContent.includes("Tuesday")`)
		typed.save("asks")
		typed.eval(`w.asked = tool(".bar button.main")`)
		s.edit("Week 2", "Second week") // while the bar is shown
		clean.wait(`d.body.textContent.includes("Second week")`)
		typed.wait(`d.querySelector("#note").value === "mine" && tool(".bar button.main") === w.asked`)
		typed.click(`tool(".bar button.main")`)
		typed.wait(`d.body.textContent.includes("Second week") && d.querySelector("#note").value === ""`)
		typed.wait(`!tool(".open").hidden`)
	})
}

// TestGoBack: the person sees who changed what, and goes back by mouse or keyboard; the agent
// receives it as an event.
func TestGoBack(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStage(t, string(ahp.MustMarshal(map[string]string{"html": app})))
		b := webtest.Start(t)
		v := s.view(b)
		if v.eval(`d.querySelector("ahp-page-tools")`) != "null" {
			t.Error("a page without earlier revisions has a button")
		}
		s.edit("Launch plan", "Launch plan, draft 2")
		s.invoke("write_files", `{"files":{"style.css":"body { color: teal }","app.js":"","data/quotes.json":"[]"}}`)
		v.wait(`d.querySelector("h1").textContent.endsWith("draft 2") && !tool(".open").hidden`)
		v.click(`tool(".open")`)
		v.wait(`tool("ol").children.length === 3 && d.activeElement.shadowRoot.activeElement.ariaLabel === "Go back to revision 2"`)
		v.save("revisions")
		v.keys(kb.ArrowDown)
		v.wait(`d.activeElement.shadowRoot.activeElement.ariaLabel === "Go back to revision 1"`)
		v.keys(kb.Escape)
		v.wait(`tool(".panel").hidden && d.activeElement.shadowRoot.activeElement.matches(".open")`)
		v.keys(kb.Enter)
		v.wait(`d.activeElement.shadowRoot.activeElement?.ariaLabel === "Go back to revision 2"`)
		v.keys(kb.ArrowDown)
		v.keys(kb.Enter)
		v.wait(`d.querySelector("h1").textContent === "Launch plan"`)
		s.awaitEvent(`{"type":"page.reverted","to":1,"revision":4,"by":"person"}`)
		v.tab.Wait(t, `document.querySelector(".card .status").textContent === "Revision 4"`)
		v.wait(`!tool(".open").hidden`)
		if os.Getenv("SCREENSHOTS") != "" {
			v.tab.Click(t, "#theme")
			v.tab.Click(t, "#theme")
			v.wait(`d.documentElement.dataset.colorMode === "dark"`)
			v.click(`tool(".open")`)
			v.wait(`tool("ol").children.length === 4`)
			v.save("revisions-dark")
			v.tab.Resize(t, 390, 844)
			v.save("revisions-narrow-dark")
		}
	})
}

// TestExport: the person is offered the files as a download.
func TestExport(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStage(t, string(ahp.MustMarshal(map[string]string{"html": app})))
		v := s.view(webtest.Start(t))
		s.invoke("export", `{}`)
		v.wait(`tool(".bar p").textContent.startsWith("The agent offers a download: Plan.zip1 file, ")`)
		v.save("export")
		v.eval(`(w.URL.createObjectURL = (blob) => { w.downloaded = blob.size + " " + blob.type; return "blob:x"; })`)
		v.click(`tool(".bar button.main")`)
		v.wait(`w.downloaded?.endsWith("application/zip")`)
	})
}

// TestBlocked: the agent reads in words what the page could not load, and a page that
// hangs is loaded again when it was repaired.
func TestBlocked(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStage(t, `{"html":"<!doctype html><title>Net</title><script src=\"https://cdn.example/x.js\"></script><p>here"}`)
		v := s.view(webtest.Start(t))
		s.awaitEvent(`"text":"https://cdn.example/x.js was blocked: a canvas reaches only its own files; write the file into the canvas"`)
		s.edit(`<script src="https://cdn.example/x.js"></script>`, `<script>const end = performance.now() + 4000; while (performance.now() < end);</script>`)
		s.edit(`<script>const end = performance.now() + 4000; while (performance.now() < end);</script>`, `<p>repaired`)
		v.wait(`d.body.textContent.includes("repaired")`)
		v.wait(`Array.isArray(w.ahpProblems.take().problems)`)
		s.edit(`<p>repaired`, `<script>console.error("odd", { a: 1 }); undefined.f();</script><img src="no.png">`)
		v.wait(`d.querySelector("img") && (w.found ??= []).push(...w.ahpProblems.take().problems.map((p) => p.kind + " " + p.text + " " + (p.file ?? "") + ":" + (p.line ?? ""))) >= 0 && w.found.length === 3`)
		if got, want := v.eval(`w.found.join("; ")`), `console odd {"a":1} :; error Uncaught TypeError: Cannot read properties of undefined (reading 'f') /:1; read /no.png could not be read :`; got != want {
			t.Errorf("problems: %s\nwant %s", got, want)
		}
	})
}

// TestSingleDocument: without content origins the page is shown too, with its own and our
// files in one document, and an edit is shown.
func TestSingleDocument(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStageOn(t, string(ahp.MustMarshal(map[string]string{"html": groceries(t)})), func(h *host.Host) { serveWithoutOrigins(t, h) })
		tab := webtest.Start(t).Open(t, s.host.Link(host.DefaultSession))
		tab.Wait(t, `document.querySelector(".note:not([hidden])")?.textContent.startsWith("Single-document mode")`)
		if got := s.invoke("call", `{"name":"add","input":{"text":"Milk"}}`); got != `{"items":["Milk"]}` {
			t.Errorf("the page answered %s", got)
		}
		s.edit("Groceries", "Shopping")
		tab.Wait(t, `document.querySelector(".card h2").textContent === "Shopping"`)
		if got := s.invoke("call", `{"name":"add","input":{"text":"Bread"}}`); got != `{"items":["Milk","Bread"]}` {
			t.Errorf("after an edit the page answered %s", got)
		}
	})
}

// serveWithoutOrigins serves a host whose page knows no content origins.
func serveWithoutOrigins(t *testing.T, h *host.Host) {
	t.Helper()
	origins := regexp.MustCompile(`http://\*[^"]*`)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			h.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		maps.Copy(w.Header(), rec.Header())
		w.Header().Del("Content-Length")
		_, _ = w.Write(origins.ReplaceAll(rec.Body.Bytes(), nil))
	}))
	if err := h.SetAddr(srv.Listener.Addr()); err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
}

// TestFragment: a line of HTML looks good in both themes.
func TestFragment(t *testing.T) {
	browsers(t, func(t *testing.T) {
		s := newStage(t, `{"title":"Greeting","html":"<h1>Hi</h1><p>This is one line of HTML.</p>"}`)
		v := s.view(webtest.Start(t))
		v.wait(`d.compatMode === "CSS1Compat" && w.getComputedStyle(d.body).maxWidth === "768px"`)
		v.save("fragment")
	})
}
