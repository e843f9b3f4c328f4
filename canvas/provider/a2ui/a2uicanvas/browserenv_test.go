package a2uicanvas_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// stage is a host with A2UI canvases that browsers look at.
type stage struct {
	t    testing.TB
	host *host.Host
}

func newStage(t testing.TB, agents ...a2ui.Agent) *stage {
	t.Helper()
	return stageWith(t, host.Options{}, a2uicanvas.Options{Agents: agents})
}

func stageWith(t testing.TB, ho host.Options, o a2uicanvas.Options) *stage {
	t.Helper()
	h, err := host.New(ho)
	if err != nil {
		t.Fatal(err)
	}
	p := a2uicanvas.New(o)
	if _, err := h.Add(p); err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	t.Cleanup(func() { _ = p.Close() })
	return &stage{t, h}
}

// open opens a canvas with an input, "" for none.
func (s *stage) open(canvasID, id, input string) {
	s.t.Helper()
	args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: canvasID, InstanceID: id}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	if _, err := s.host.Canvases().Open(s.t.Context(), args); err != nil {
		s.t.Fatal(err)
	}
}

// apply draws as the session's agent.
func (s *stage) apply(id, messages string) {
	s.t.Helper()
	v, err := s.host.Canvases().Invoke(s.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: id, ActionName: "apply", Input: ahp.Value(`{"messages":` + messages + `}`)})
	if err != nil || !strings.Contains(string(v), `"errors":[]`) {
		s.t.Fatalf("apply: %s, %v", v, err)
	}
}

// try applies a message that must be refused, and returns the error.
func (s *stage) try(id, message string) string {
	s.t.Helper()
	v, err := s.host.Canvases().Invoke(s.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: id, ActionName: "apply", Input: ahp.Value(`{"messages":` + message + `}`)})
	if err == nil {
		s.t.Errorf("applied %s: %s", message, v)
	}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code + " " + e.Message
	}
	return ""
}

// events returns the events that the agent has received so far.
func (s *stage) events() (events []string) {
	s.t.Helper()
	page, err := s.host.Canvases().Events(s.t.Context(), host.DefaultSession, 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range page.Events {
		events = append(events, string(e.Event))
	}
	return events
}

// mcp connects an agent through the MCP endpoint.
func (s *stage) mcp() *mcp.ClientSession {
	s.t.Helper()
	_, token := s.host.Tokens()
	c := &http.Client{Transport: bearer{token, http.DefaultTransport}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "foreign"}, nil).
		Connect(s.t.Context(), &mcp.StreamableClientTransport{Endpoint: s.host.Endpoints().MCP, HTTPClient: c}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return session
}

type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// tool calls an MCP tool and returns the structured answer as JSON.
func (s *stage) tool(c *mcp.ClientSession, name string, args map[string]any) string {
	s.t.Helper()
	result, err := c.CallTool(s.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil || result.IsError {
		s.t.Fatalf("%s: %v %+v", name, err, result)
	}
	return string(ahp.MustMarshal(result.StructuredContent))
}

// screen is a tab that shows the one open canvas.
type screen struct {
	t     testing.TB
	tab   *webtest.Page
	frame *webtest.Page
}

func (s *stage) screen(b *webtest.Browser) *screen {
	s.t.Helper()
	v := &screen{t: s.t, tab: b.Open(s.t, s.host.Link(host.DefaultSession))}
	v.find()
	return v
}

func (v *screen) find() {
	v.t.Helper()
	v.frame = v.tab.Frames(v.t, 1, webtest.ContentFrame)[0]
	v.wait(`d.body.getAttribute("aria-busy") === "false"`)
	at := webtest.Eval[[2]float64](v.t, v.tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x + 4, r.y + 4]; })()`)
	v.tab.ClickAt(v.t, at[0], at[1]) // WebKit gives a frame the focus after a click alone
}

// prelude defines names for expressions: d is the page, all finds elements in it and in
// its surfaces, texts are their texts, says is all visible text of the surfaces.
const prelude = `(() => { const d = document.querySelector("iframe").contentDocument, w = d.defaultView;
	const roots = [...d.querySelectorAll("a2ui-surface")].map((s) => s.shadowRoot).filter(Boolean);
	const all = (selector) => [d, ...roots].flatMap((r) => [...r.querySelectorAll(selector)]), at = (selector) => all(selector)[0];
	const says = () => roots.map((r) => [...r.children].map((c) => c.innerText).join(" ")).join(" ").replace(/\s+/g, " ").trim();
	const button = (text) => all("button").find((b) => b.textContent.trim() === text);
	const type = (selector, text) => { const e = at(selector); e.focus(); e.value = text; e.dispatchEvent(new w.InputEvent("input", { bubbles: true })); return true; };
	return `

func (v *screen) wait(expression string) {
	v.t.Helper()
	v.frame.Wait(v.t, prelude+expression+`})()`)
}

func (v *screen) eval(expression string) string {
	v.t.Helper()
	return webtest.Eval[string](v.t, v.frame, prelude+`String(`+expression+`)})()`)
}

// do evaluates an expression for its effect, as soon as its element exists.
func (v *screen) do(expression string) {
	v.t.Helper()
	v.wait(`(` + expression + `, true)`)
}

// shot saves a screenshot, if the variable SCREENSHOTS names a folder.
func (v *screen) shot(name string) {
	v.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	v.wait(`d.fonts.status === "loaded"`)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), v.tab.Screenshot(v.t), 0o644); err != nil {
		v.t.Fatal(err)
	}
}

func (v *screen) theme(mode string) {
	v.t.Helper()
	v.tab.Wait(v.t, `document.documentElement.dataset.colorMode === "`+mode+`" || void [...document.querySelectorAll("button")].find((b) => b.textContent.startsWith("Theme")).click()`)
	v.wait(`d.documentElement.dataset.colorMode === "` + mode + `"`)
}

// example is a stream that A2UI publishes.
type example struct {
	name     string
	messages []ahp.Value
	surface  string
}

func examples(t testing.TB) (list []example) {
	t.Helper()
	files, err := filepath.Glob("../testdata/examples/*.json")
	if err != nil || len(files) != 36 {
		t.Fatalf("%d examples, %v; want 36", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := example{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if e.messages, err = a2ui.Messages(raw); err != nil {
			t.Fatal(err)
		}
		var m struct {
			Create struct {
				ID    string    `json:"surfaceId"`
				Extra ahp.Value `json:",embed"`
			} `json:"createSurface"`
			Extra ahp.Value `json:",embed"`
		}
		if err := ahp.Unmarshal(e.messages[0], &m); err != nil {
			t.Fatal(err)
		}
		e.surface = m.Create.ID
		list = append(list, e)
	}
	return list
}

func find(t testing.TB, name string) example {
	t.Helper()
	for _, e := range examples(t) {
		if e.name == name {
			return e
		}
	}
	t.Fatalf("no example %s", name)
	return example{}
}

func (e example) json() string { return string(ahp.MustMarshal(e.messages)) }

// actor is a remote agent that a test plays.
type actor struct {
	name  string
	reply func(turn a2ui.Turn) []a2ui.Reply

	mu    sync.Mutex
	turns []a2ui.Turn
}

func (a *actor) Name() string { return a.name }

func (a *actor) Send(_ context.Context, t a2ui.Turn, on func(a2ui.Reply)) error {
	a.mu.Lock()
	a.turns = append(a.turns, t)
	a.mu.Unlock()
	for _, r := range a.reply(t) {
		on(r)
	}
	return nil
}

// seen returns everything that the agent has received, as text.
func (a *actor) seen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(ahp.MustMarshal(a.turns))
}
