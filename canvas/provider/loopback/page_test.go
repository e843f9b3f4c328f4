package loopback_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// host is a host with the app's canvas open, and a page that renders it.
type host struct {
	*canvastest.Host
	t       *testing.T
	channel string
	page    *page
}

func open(t *testing.T, p *loopback.Provider) *host {
	t.Helper()
	h := &host{Host: canvastest.New(t, engine.Options{}), t: t}
	reg := h.Register(canvas.Extension{ID: p.ID()}, p, p.Declarations()...)
	p.Watch(reg)
	h.channel = h.Open(p.ID(), "one", nil).Channel
	h.page = h.look()
	return h
}

// page is a View with a bridge.Client.
type page struct {
	*bridge.Client
	view *canvastest.View
	say  chan string // what it dispatches; a log's lock is not to be taken twice
	ws   chan string // the ws/1 messages that it received
}

// look makes a page of the canvas.
func (h *host) look() *page { return h.lookAt(h.channel) }

func (h *host) lookAt(channel string) *page {
	pg := &page{view: h.Connect("page"), say: make(chan string, 1<<12), ws: make(chan string, 1<<12)}
	pg.Client = bridge.NewClient(bridge.ClientOptions{Send: func(p ahp.Value) error {
		pg.say <- string(p)
		return nil
	}})
	pg.view.Subscribe(channel)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { pg.speak(ctx, channel) })
	running.Go(func() { pg.listen(ctx, channel) })
	h.t.Cleanup(func() {
		cancel()
		running.Wait()
		pg.Close()
	})
	return pg
}

func (p *page) speak(ctx context.Context, channel string) {
	for {
		select {
		case payload := <-p.say:
			p.view.Say(channel, payload)
		case <-ctx.Done():
			return
		}
	}
}

// listen gives the client what the host says. A canvas that is stale has lost its
// lanes.
func (p *page) listen(ctx context.Context, channel string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, e := range p.view.Take() {
			if e.Channel == channel {
				p.hear(e.Action)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *page) hear(raw ahp.Value) {
	var action struct {
		Type         string                     `json:"type"`
		Payload      ahp.Value                  `json:"payload,omitzero"`
		Availability session.CanvasAvailability `json:"availability,omitzero"`
	}
	if ahp.Unmarshal(raw, &action) != nil {
		return
	}
	if action.Type == (canvas.Message{}).ActionType() {
		if !p.Message(action.Payload) {
			p.ws <- string(action.Payload)
		}
	}
	if action.Availability == session.Stale {
		p.Close()
	}
}

func (p *page) get(t *testing.T, path string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://canvas"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}
