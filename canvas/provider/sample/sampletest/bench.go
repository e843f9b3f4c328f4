package sampletest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// Instance is the instance id of a Bench's canvas.
const Instance = "b"

// Bench is a running host with an open canvas.
type Bench struct {
	t    testing.TB
	host *host.Host
}

// New starts a host that ends with the test, and opens the provider's canvas in it.
func New(t testing.TB, p *sample.Provider, input string) *Bench {
	t.Helper()
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	if _, err := h.Canvases().Register(p.Extension(), p, p.Declarations()...); err != nil {
		t.Fatal(err)
	}
	id := p.Declarations()[0].CanvasID
	_, err = h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, InstanceID: Instance, Input: ahp.Value(input)})
	if err != nil {
		t.Fatal(err)
	}
	return &Bench{t, h}
}

// Invoke runs an action as the agent and returns its value. The test fails if the
// action does.
func (b *Bench) Invoke(action, input string) string {
	b.t.Helper()
	v, err := b.host.Canvases().Invoke(b.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: Instance, ActionName: action, Input: ahp.Value(input)})
	if err != nil {
		b.t.Fatalf("%s %s: %v", action, input, err)
	}
	return string(v)
}

// Events returns the events that the agent has received so far, as JSON.
func (b *Bench) Events() (events []string) {
	b.t.Helper()
	page, err := b.host.Canvases().Events(b.t.Context(), host.DefaultSession, 0, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range page.Events {
		events = append(events, string(e.Event))
	}
	return events
}

// Page is a tab that shows the canvas.
type Page struct {
	t testing.TB
	// Tab is the host's page, around the canvas.
	Tab   *webtest.Page
	frame *webtest.Page // the outer frame; the canvas is a frame of the same origin in it
}

// View opens the canvas in a new tab.
func (b *Bench) View(browser *webtest.Browser) *Page {
	b.t.Helper()
	p := &Page{t: b.t, Tab: browser.Open(b.t, b.host.Link(host.DefaultSession))}
	p.find()
	return p
}

func (p *Page) find() {
	p.t.Helper()
	p.frame = p.Tab.Frames(p.t, 1, webtest.ContentFrame)[0]
	p.Wait(`d.body.getAttribute("aria-busy") === "false"`)
	p.enter()
}

// enter clicks in a corner of the canvas: WebKit lets a frame of another origin take
// the focus only after the person has clicked in it.
func (p *Page) enter() {
	p.t.Helper()
	at := webtest.Eval[[2]float64](p.t, p.Tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x + 4, r.y + 4]; })()`)
	p.Tab.ClickAt(p.t, at[0], at[1])
	p.Tab.Wait(p.t, `document.activeElement.localName === "iframe"`)
}

// Reload reloads the tab.
func (p *Page) Reload() {
	p.t.Helper()
	p.Tab.Reload(p.t)
	p.find()
}

// prelude defines names for expressions: d is the canvas's document, at finds an
// element by its id, all finds elements by a selector.
const prelude = `(() => { const d = document.querySelector("iframe").contentDocument;
	const at = (id) => d.getElementById(id), all = (selector) => [...d.querySelectorAll(selector)];
	return `

// Wait waits until an expression is true in the canvas. Expressions may use d, at and
// all; see prelude.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	p.frame.Wait(p.t, prelude+expression+`})()`)
}

// Shows waits until the value of an expression is text.
func (p *Page) Shows(expression, text string) {
	p.t.Helper()
	p.Wait(`(` + expression + `) === ` + string(ahp.MustMarshal(text)))
}

// Eval returns the value of an expression as a string.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	return webtest.Eval[string](p.t, p.frame, prelude+`String(`+expression+`)})()`)
}

// Keys types into the focused element.
func (p *Page) Keys(keys string) {
	p.t.Helper()
	p.frame.Keys(p.t, keys)
}

// Press dispatches a key that the page handles, as in "Ctrl+Shift+Enter". With Keys, a
// driven browser would also type the letter of a handled key into the field that the
// key opens.
func (p *Page) Press(key string) {
	p.t.Helper()
	key, ctrl := strings.CutPrefix(key, "Ctrl+")
	key, shift := strings.CutPrefix(key, "Shift+")
	p.Eval(fmt.Sprintf(`d.activeElement.dispatchEvent(new d.defaultView.KeyboardEvent("keydown", { key: %q, ctrlKey: %v, shiftKey: %v, bubbles: true, cancelable: true }))`, key, ctrl, shift))
}

// Dark switches the page to the dark theme.
func (p *Page) Dark() {
	p.t.Helper()
	theme := `[...document.querySelectorAll("button")].find((b) => b.textContent.startsWith("Theme"))`
	p.Tab.Wait(p.t, `(`+theme+`.click(), `+theme+`.textContent.includes("dark"))`)
	p.Wait(`d.documentElement.dataset.colorMode === "dark"`)
}

// Look saves a screenshot if the variable SCREENSHOTS names a folder. If AXE names the
// file axe.min.js of the npm package axe-core, the test fails on serious violations.
// Look waits for animations first.
func (p *Page) Look(name string) {
	p.t.Helper()
	if os.Getenv("SCREENSHOTS") == "" && os.Getenv("AXE") == "" {
		return
	}
	p.Wait(`d.getAnimations().every((a) => a.playState !== "running")`)
	p.shot(name)
	p.audit(name)
}

func (p *Page) shot(name string) {
	p.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), p.Tab.Screenshot(p.t), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) audit(name string) {
	p.t.Helper()
	file := os.Getenv("AXE")
	if file == "" {
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	found := webtest.Eval[string](p.t, p.frame, prelude+`(d.defaultView.eval(`+string(ahp.MustMarshal(string(axe)))+`),
		d.defaultView.axe.run(d, { resultTypes: ["violations"] })).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + " at " + v.nodes.map((n) => n.target + ": " + n.failureSummary).join("; ")).join("\n"))})()`)
	if found != "" {
		p.t.Errorf("axe, %s: %s", name, found)
	}
}
