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
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// panel serves one open canvas: a port, and the connection to the host behind it.
type panel struct {
	renderer             *renderer
	channel              string
	instanceID, canvasID string
	ctx                  context.Context
	cancel               context.CancelFunc
	client               *client.Client
	host                 string // host and port, which requests must name

	mu       sync.Mutex
	state    canvas.CanvasState
	conn     *bridgeConn
	reported Canvas

	views standalone.Views
}

// bridgeConn is an http/1 client over one connection to the host.
type bridgeConn struct {
	*bridge.Client
	ended <-chan struct{} // closed when the connection is lost
}

// run serves the canvas until it is closed.
func (p *panel) run() {
	defer p.cancel()
	log := p.renderer.opts.Logger
	c := p.dial()
	if c == nil {
		return
	}
	p.client = c
	p.views.Channel, p.views.Dial = p.channel, func(ctx context.Context) (*client.Client, error) { return p.renderer.opts.Dial(ctx, p.channel) }
	defer c.Close()
	ln, err := p.renderer.opts.Listen()
	if err != nil {
		log.Error("cannot listen for a canvas", "id", p.instanceID, "err", err)
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
	p.cancel() // cancels active requests
	p.closeConn()
	_ = srv.Close()
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

// follow tracks the state and receives the provider's messages, until the canvas is
// closed or the client gives up.
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
		if ev.Kind == client.EventRefused {
			p.refused(ev.Raw)
			continue
		}
		if m, ok := ev.Action.(canvas.Message); ok {
			p.receive(m.Payload)
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
	p.mu.Unlock()
	if st.Availability != session.Ready {
		p.closeConn()
	}
	p.report(func(c *Canvas) {
		c.Availability, c.URL, c.Title = st.Availability, p.address(st), ""
		c.OtherOrigins = otherOrigins(st)
		if st.Title != nil {
			c.Title = *st.Title
		}
	})
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

// address returns the canvas's URL for people. A stale canvas keeps its previous one.
func (p *panel) address(st canvas.CanvasState) string {
	if st.URL == nil {
		return p.reported.URL
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

// current returns the state, and the http/1 client over the current connection if the
// provider answers http/1 and is ready.
func (p *panel) current() (canvas.CanvasState, *bridgeConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		select {
		case <-p.conn.ended:
			p.conn = nil // closed by the goroutine that backoff for it
		default:
		}
	}
	if p.conn == nil && bridged(p.state) && p.state.Availability == session.Ready && p.client.Err() == nil {
		p.conn = p.newConn()
	}
	return p.state, p.conn
}

func (p *panel) newConn() *bridgeConn {
	l := &bridgeConn{ended: p.client.Disconnected()}
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

// closeConn closes the http/1 client: active requests fail, and the next one gets a new
// client.
func (p *panel) closeConn() {
	p.mu.Lock()
	l := p.conn
	p.conn = nil
	p.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

// refused passes a message that the host rejected to the http/1 client.
func (p *panel) refused(action ahp.Value) {
	var m struct {
		Payload ahp.Value `json:"payload,omitzero"`
		Extra   ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(action, &m) != nil {
		return
	}
	p.mu.Lock()
	l := p.conn
	p.mu.Unlock()
	if l != nil {
		l.Refused(m.Payload)
	}
}

func (p *panel) receive(payload ahp.Value) {
	p.mu.Lock()
	l := p.conn
	p.mu.Unlock()
	if l != nil {
		l.Message(payload)
	}
}
