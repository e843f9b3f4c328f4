package local

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// panel is one open canvas: a port, and the connection behind it.
type panel struct {
	renderer             *renderer
	channel              string
	instanceID, canvasID string
	ctx                  context.Context
	cancel               context.CancelFunc
	client               *client.Client
	host                 string // host and port, as a request must name them

	mu    sync.Mutex
	state canvas.CanvasState
	lane  *lane
	told  Canvas

	views views
}

// lane is the bridge over one connection.
type lane struct {
	*bridge.Client
	ended <-chan struct{} // with the connection
}

// run offers the canvas until it is closed.
func (p *panel) run() {
	defer p.cancel()
	log := p.renderer.opts.Logger
	c := p.dial()
	if c == nil {
		return
	}
	p.client = c
	defer c.Close()
	ln, err := p.renderer.opts.Listen()
	if err != nil {
		log.Error("no port for a canvas", "id", p.instanceID, "err", err)
		return
	}
	p.host = ln.Addr().String()
	srv := &http.Server{
		Handler: web.BodyTimeout(p), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return p.ctx },
	}
	new(web.ConnLimiter).Watch(srv)
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	p.follow()
	p.cancel() // ends what is under way
	p.drop()
	_ = srv.Close()
	<-served
	p.report(func(c *Canvas) { c.Closed, c.URL = true, "" })
}

// dial makes the canvas's connection, for which the host may have no room at the
// moment, or be away. It returns nil where the canvas ended first.
func (p *panel) dial() *client.Client {
	waits := client.NewBackoff()
	for {
		c, err := p.renderer.opts.Dial(p.ctx, p.channel)
		if err == nil {
			return c
		}
		select {
		case <-p.ctx.Done():
			return nil
		case <-time.After(waits.NextBackOff()):
			p.renderer.opts.Logger.Warn("canvas not offered yet", "id", p.instanceID, "err", err)
		}
	}
}

// follow keeps the state and hears the provider, until the canvas is closed or
// its host lost for good.
func (p *panel) follow() {
	w := p.client.Watch(p.channel)
	defer w.Close()
	for ev, err := range w.All(p.ctx) {
		if err != nil || ev.Kind == client.EventGone {
			if err != nil && !errors.Is(err, context.Canceled) {
				p.renderer.opts.Logger.Warn("canvas not followed any more", "id", p.instanceID, "err", err)
			}
			return
		}
		if ev.Kind == client.EventRefused {
			p.refused(ev.Raw)
			continue
		}
		if m, ok := ev.Action.(canvas.Message); ok {
			p.hear(m.Payload)
		}
		if st, ok := ev.State.(canvas.CanvasState); ok {
			p.take(st)
		}
	}
}

// take makes a state the one that holds, and tells of it.
func (p *panel) take(st canvas.CanvasState) {
	p.mu.Lock()
	p.state = st
	p.mu.Unlock()
	if st.Availability != session.Ready {
		p.drop()
	}
	p.report(func(c *Canvas) {
		c.Availability, c.URL, c.Title = st.Availability, p.address(st), ""
		if st.Title != nil {
			c.Title = *st.Title
		}
	})
}

// report tells of the canvas where that is news.
func (p *panel) report(change func(*Canvas)) {
	p.mu.Lock()
	before := p.told
	now := before
	now.InstanceID, now.CanvasID = p.instanceID, p.canvasID
	change(&now)
	p.told = now
	p.mu.Unlock()
	if now != before {
		p.renderer.tell(now)
	}
}

// address is where a person looks at the canvas. A stale one has the address that
// it had.
func (p *panel) address(st canvas.CanvasState) string {
	if st.URL == nil {
		return p.told.URL
	}
	if ahp.SchemeOf(*st.URL) != ahp.SchemeContent {
		return *st.URL
	}
	_, path, err := canvas.ParseContentURI(*st.URL)
	if err != nil {
		return ""
	}
	at := path.String()
	if at == "" || at[0] != '/' {
		at = "/" + at
	}
	return "http://" + p.host + at
}

// bridged reports whether the provider answers http/1.
func bridged(st canvas.CanvasState) bool {
	var meta map[string]ahp.Value
	return len(st.Meta) > 0 && ahp.Unmarshal(st.Meta, &meta) == nil && string(meta["x-ahp-canvas/http"]) == "1"
}

// current returns the state, and the lane of a canvas that has one, over the
// connection that there is now.
func (p *panel) current() (canvas.CanvasState, *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lane != nil {
		select {
		case <-p.lane.ended:
			p.lane = nil // closed by the goroutine that waits for it
		default:
		}
	}
	if p.lane == nil && bridged(p.state) && p.state.Availability == session.Ready && p.client.Err() == nil {
		p.lane = p.newLane()
	}
	return p.state, p.lane
}

func (p *panel) newLane() *lane {
	l := &lane{ended: p.client.Disconnected()}
	l.Client = bridge.NewClient(bridge.ClientOptions{Send: func(payload ahp.Value) error {
		_, err := p.client.DispatchAsync(p.channel, canvas.Message{Payload: payload})
		return err
	}})
	p.renderer.wg.Go(func() {
		select {
		case <-l.ended:
		case <-p.ctx.Done():
		}
		l.Close()
	})
	return l
}

// drop ends the lane: what is under way fails, and the next request has another.
func (p *panel) drop() {
	p.mu.Lock()
	l := p.lane
	p.lane = nil
	p.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

// refused tells the lane which of its messages the host did not take.
func (p *panel) refused(action ahp.Value) {
	var m struct {
		Payload ahp.Value `json:"payload,omitzero"`
		Extra   ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(action, &m) != nil {
		return
	}
	p.mu.Lock()
	l := p.lane
	p.mu.Unlock()
	if l != nil {
		l.Refused(m.Payload)
	}
}

func (p *panel) hear(payload ahp.Value) {
	p.mu.Lock()
	l := p.lane
	p.mu.Unlock()
	if l != nil {
		l.Message(payload)
	}
}
