package local

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

//go:embed local.js
var script []byte

// maxViews bounds the pages of one canvas that take part at a time.
const maxViews = 64

// views are the pages that take part by view/1: each has a connection to the host,
// so that to the canvas it is one View.
type views struct {
	mu   sync.Mutex
	byID map[string]*client.Client
}

// serveOwn answers for what is ours on every canvas's port.
func (p *panel) serveOwn(w http.ResponseWriter, r *http.Request, name string) {
	switch {
	case name == "events" && r.Method == http.MethodGet:
		p.serveEvents(w, r)
		return
	case name == "message" && r.Method == http.MethodPost:
		p.serveMessage(w, r)
		return
	}
	body := web.CanvasScript(name)
	if name == "local.js" {
		body = script
	}
	if body == nil {
		words(w, r, http.StatusNotFound, "There is no such file.")
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(body)
}

// serveEvents is a page's View for as long as it listens: what the provider says
// to it, and what becomes of its own messages.
func (p *panel) serveEvents(w http.ResponseWriter, r *http.Request) {
	c, err := p.renderer.opts.Dial(r.Context(), p.channel)
	if err != nil {
		words(w, r, http.StatusServiceUnavailable, "The host is not there now.")
		return
	}
	defer c.Close()
	id := rand.Text()
	if !p.views.add(id, c) {
		words(w, r, http.StatusTooManyRequests, "This canvas is open on too many pages.")
		return
	}
	defer p.views.remove(id)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	say := func(v any) error {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", ahp.MustMarshal(v)); err != nil {
			return err
		}
		return out.Flush()
	}
	if say(map[string]string{"lane": id}) == nil {
		p.stream(r.Context(), c, say)
	}
}

// stream tells a page what its provider says to it. It ends with the page, with the
// canvas, and with the connection: the page comes back with another one.
func (p *panel) stream(ctx context.Context, c *client.Client, say func(any) error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lost := c.Disconnected()
	go func() {
		select {
		case <-lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	w := c.Watch(p.channel)
	defer w.Close()
	for ev, err := range w.All(ctx) {
		if err != nil || ev.Kind == client.EventGone {
			return
		}
		if err := tellPage(ev, c.ID(), say); err != nil {
			return
		}
	}
}

// tellPage is one event in the words of local.js.
func tellPage(ev client.Event, self string, say func(any) error) error {
	if m, ok := ev.Action.(canvas.Message); ok && ev.Kind == client.EventAction {
		if ev.Origin != nil && ev.Origin.ClientID == self {
			return nil // its own, of which it hears by the answer of serveMessage
		}
		return say(map[string]any{"payload": m.Payload})
	}
	if st, ok := ev.State.(canvas.CanvasState); ok {
		state := map[string]any{}
		if st.Input != nil {
			state["input"] = st.Input
		}
		return say(map[string]any{"state": state})
	}
	return nil
}

// serveMessage sends a page's canvas/message and answers with what became of it. A
// page sends one after the other, so that they arrive in order.
func (p *panel) serveMessage(w http.ResponseWriter, r *http.Request) {
	c := p.views.get(r.URL.Query().Get("lane"))
	if c == nil {
		words(w, r, http.StatusConflict, "the connection to the host was lost; the message did not arrive")
		return
	}
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil || !ahp.Value(payload).IsValid() {
		words(w, r, http.StatusBadRequest, "a message is JSON, at most 64 KiB")
		return
	}
	err = c.Dispatch(r.Context(), p.channel, canvas.Message{Payload: payload})
	switch refused, ok := errors.AsType[*client.Refused](err); {
	case ok:
		words(w, r, http.StatusConflict, refused.Reason)
	case err != nil:
		words(w, r, http.StatusServiceUnavailable, "the connection to the host was lost; the message may not have arrived")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (v *views) add(id string, c *client.Client) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.byID) >= maxViews {
		return false
	}
	if v.byID == nil {
		v.byID = map[string]*client.Client{}
	}
	v.byID[id] = c
	return true
}

func (v *views) remove(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byID, id)
}

func (v *views) get(id string) *client.Client {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.byID[id]
}
