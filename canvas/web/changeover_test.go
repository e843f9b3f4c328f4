package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// gate is a front that can close the way to the host's listener for frames there.
type gate struct {
	closed  atomic.Bool
	entered atomic.Int32 // frames that were let through
}

func (g *gate) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "g-") {
			if g.closed.Load() {
				panic(http.ErrAbortHandler)
			}
			if r.URL.Path == "/.ahp/frame.js" {
				g.entered.Add(1)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// reconnect cuts all connections of the page, which connects again while the way to the
// listener is open or closed.
func (g *gate) reconnect(t *testing.T, e *env, p *webtest.Page, closed bool) {
	t.Helper()
	e.gone()
	p.Wait(t, `document.body.dataset.connection !== "ready"`)
	g.closed.Store(closed)
	e.back(t)
	p.Wait(t, `document.body.dataset.connection === "ready"`)
}

// startGated opens a web app with a text field behind a gate.
func startGated(t *testing.T) (*gate, *env, *webtest.Page) {
	t.Helper()
	g := new(gate)
	a := newApp(t)
	a.page("/app", `<title>Form</title><input id=text>`)
	e := startWith(t, setup{name: "localhost", direct: true, wrap: g.wrap, store: channels.NewMemory()}, site{id: "near", title: "Near", app: a, path: "app"})
	p := webtest.Start(t).Open(t, e.link)
	webtest.Eval[any](t, p, `document.body.dataset.stayed = "true"`)
	return g, e, p
}

// shownBy waits until the canvas is shown on the host's listener, or through the channel.
func shownBy(t *testing.T, p *webtest.Page, where func(*url.URL) bool) *webtest.Page {
	t.Helper()
	prefix := "c-"
	if where(&url.URL{Host: "g-"}) {
		prefix = "g-"
	}
	p.Wait(t, `document.body.dataset.stayed && new URL(document.querySelector(".card iframe").src).host.startsWith("`+prefix+`") && document.querySelector(".card .words").hidden`)
	frame := p.Frames(t, 1, where)[0]
	frame.Wait(t, document+`.title === "Form"`)
	return frame
}

// far matches frames of canvases that are shown through the channel.
func far(u *url.URL) bool { return strings.HasPrefix(u.Host, "c-") }

// answered is an expression: the app answers the canvas's document.
const answered = `(document.body.dataset.sent ??= String(document.querySelector("iframe").contentWindow.fetch("/echo").then((r) => { document.body.dataset.ok = r.ok; })), document.body.dataset.ok === "true")`

// typed types into the canvas.
func typed(t *testing.T, p, frame *webtest.Page) {
	t.Helper()
	webtest.Eval[any](t, p, `document.querySelector(".card iframe").focus()`)
	webtest.Eval[any](t, frame, `(document.querySelector("iframe").contentWindow.focus(), `+document+`.getElementById("text").focus())`)
	p.KeysAtFocus(t, "draft")
	frame.Wait(t, document+`.getElementById("text").value === "draft"`)
}

// TestChangesOver: while the page stays open, a canvas that loses its address on the host's
// listener continues through the channel, and back when the page connects again and reaches it.
func TestChangesOver(t *testing.T) {
	g, e, p := startGated(t)
	shownBy(t, p, near)
	for range 2 {
		g.reconnect(t, e, p, true)
		shownBy(t, p, far).Wait(t, answered)
		g.reconnect(t, e, p, false)
		shownBy(t, p, near).Wait(t, answered)
	}
}

// TestKeepsInput: a canvas with unsaved input does not change over. The card says so if it is
// cut off from its app.
func TestKeepsInput(t *testing.T) {
	g, e, p := startGated(t)
	frame := shownBy(t, p, near)
	typed(t, p, frame)
	const note = `document.querySelector(".card .note:not([hidden])")?.textContent.includes("does not reach its app")`
	g.reconnect(t, e, p, true)
	p.Wait(t, note)
	frame.Wait(t, document+`.getElementById("text").value === "draft"`)
	g.reconnect(t, e, p, false)
	p.Wait(t, `!(`+note+`)`)
	frame.Wait(t, answered)

	webtest.Eval[any](t, frame, document+`.getElementById("text").value = ""`)
	g.reconnect(t, e, p, true)
	frame = shownBy(t, p, far)
	typed(t, p, frame)
	webtest.Eval[any](t, p, `void new MutationObserver((changes) => { globalThis.looked ||= changes.some(({ removedNodes: [gone] }) => gone?.localName === "iframe"); }).observe(document.body, { childList: true })`)
	before := g.entered.Load()
	g.reconnect(t, e, p, false)
	p.Wait(t, `globalThis.looked`)
	if g.entered.Load() == before {
		t.Error("the page did not look for the address on the listener")
	}
	frame.Wait(t, answered)
	frame.Wait(t, document+`.getElementById("text").value === "draft"`)
	webtest.Eval[any](t, frame, document+`.getElementById("text").value = ""`)
	g.reconnect(t, e, p, false)
	shownBy(t, p, near).Wait(t, answered)
}

// TestChangesOverAtRestart: a canvas stays on the host's listener when the host starts again, whose
// address of it has another secret, and continues through the channel if that is not reached.
func TestChangesOverAtRestart(t *testing.T) {
	g, e, p := startGated(t)
	frame := shownBy(t, p, near)
	typed(t, p, frame)
	restart := func(closed bool) {
		t.Helper()
		e.gone()
		if err := e.host.Close(); err != nil {
			t.Fatal(err)
		}
		e.startHost(t)
		g.closed.Store(closed)
		e.back(t)
	}
	restart(false)
	frame.Wait(t, `document.querySelector("iframe").contentWindow.fetch("/echo").then((r) => { document.body.dataset.again = r.ok; }) && document.body.dataset.again === "true"`)
	frame.Wait(t, document+`.getElementById("text").value === "draft"`)

	webtest.Eval[any](t, frame, document+`.getElementById("text").value = ""`)
	restart(true)
	shownBy(t, p, far).Wait(t, answered)
}
