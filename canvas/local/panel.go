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
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/gateway"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// panel is one open canvas: its state, which it follows at the host, and the gateway that
// serves it at a port.
type panel struct {
	renderer             *renderer
	channel              string
	instanceID, canvasID string
	ctx                  context.Context
	cancel               context.CancelFunc
	client               *client.Client
	gateway              *gateway.Gateway

	mu       sync.Mutex
	state    canvas.CanvasState
	life     context.Context // ends when the canvas becomes stale; nil before it was ready
	end      context.CancelFunc
	reported Canvas
}

// run serves the canvas until it is closed.
func (p *panel) run() {
	defer p.cancel()
	log := p.renderer.opts.Logger
	if p.client = p.dial(); p.client == nil {
		return
	}
	defer p.client.Close()
	ln, err := p.renderer.opts.Listen()
	if err != nil {
		log.Error("cannot listen for a canvas", "id", p.instanceID, "err", err)
		return
	}
	p.gateway = gateway.New(gateway.Options{
		Instance: func(string) (gateway.Instance, bool) { return p.instance() },
		Exists:   func(string) bool { return p.ctx.Err() == nil },
		Read:     p.read,
		Connect: func(ctx context.Context, channel string) (*client.Client, error) {
			return p.renderer.opts.Dial(ctx, channel)
		},
		Host: ln.Addr().String(), Logger: log,
	})
	srv := &http.Server{
		Handler: web.BodyTimeout(p.gateway), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return p.ctx },
	}
	new(web.ConnLimiter).Watch(srv)
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	p.follow()
	p.cancel() // cancels active requests
	_ = srv.Close()
	p.gateway.Close()
	<-served
	p.report(func(c *Canvas) { c.Closed, c.URL = true, "" })
}

// dial connects to the host, and retries while the host is unreachable or at its limit.
// It returns nil if the canvas is closed first.
func (p *panel) dial() *client.Client {
	backoff := client.NewBackoff()
	for {
		c, err := p.renderer.opts.Dial(p.ctx, p.channel)
		if err == nil {
			return c
		}
		select {
		case <-p.ctx.Done():
			return nil
		case <-time.After(backoff.NextBackOff()):
			p.renderer.opts.Logger.Warn("cannot connect for a canvas, will retry", "id", p.instanceID, "err", err)
		}
	}
}

// follow tracks the state until the canvas is closed or the client gives up.
func (p *panel) follow() {
	w := p.client.Watch(p.channel)
	defer w.Close()
	for ev, err := range w.All(p.ctx) {
		if err != nil || ev.Kind == client.EventGone {
			if err != nil && !errors.Is(err, context.Canceled) {
				p.renderer.opts.Logger.Warn("connection of a canvas ended", "id", p.instanceID, "err", err)
			}
			return
		}
		if st, ok := ev.State.(canvas.CanvasState); ok {
			p.setState(st)
		}
	}
}

// setState stores a new state and reports the change.
func (p *panel) setState(st canvas.CanvasState) {
	p.mu.Lock()
	p.state = st
	switch ready := st.Availability == session.Ready; {
	case !ready && p.end != nil:
		p.end()
	case ready && (p.life == nil || p.life.Err() != nil):
		p.life, p.end = context.WithCancel(p.ctx)
	}
	p.mu.Unlock()
	url := p.address(st)
	p.report(func(c *Canvas) {
		c.Availability, c.Title = st.Availability, ""
		if st.Availability == session.Ready || url != "" {
			c.URL = url // a stale canvas keeps its previous one
		}
		c.OtherOrigins = otherOrigins(st)
		if st.Title != nil {
			c.Title = *st.Title
		}
	})
}

// instance returns the canvas for the gateway. ok is false while it is stale.
func (p *panel) instance() (in gateway.Instance, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return gateway.Instance{State: p.state, Life: p.life}, p.life != nil && p.life.Err() == nil
}

// address returns the canvas's URL for people, or "" if it has none now.
func (p *panel) address(st canvas.CanvasState) string {
	if st.URL != nil && ahp.SchemeOf(*st.URL) != ahp.SchemeContent {
		return *st.URL
	}
	return p.gateway.Address(p.channel)
}

// otherOrigins reports whether the host lets a canvas load from more than its own origin
// (canvas/PROTOCOL.md section 4.10).
func otherOrigins(st canvas.CanvasState) bool {
	var meta struct {
		Net  string    `json:"x-ahp-canvas/net,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	return st.Meta != nil && ahp.Unmarshal(st.Meta, &meta) == nil && meta.Net != ""
}

// report notifies Options.Changed if the change has an effect.
func (p *panel) report(change func(*Canvas)) {
	p.mu.Lock()
	before := p.reported
	now := before
	now.InstanceID, now.CanvasID = p.instanceID, p.canvasID
	change(&now)
	p.reported = now
	p.mu.Unlock()
	if now != before {
		p.renderer.notify(now)
	}
}
