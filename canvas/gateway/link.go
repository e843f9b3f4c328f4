package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
)

// bridged reports whether a provider answers http/1.
func bridged(st canvas.CanvasState) bool {
	var meta map[string]ahp.Value
	return len(st.Meta) > 0 && ahp.Unmarshal(st.Meta, &meta) == nil && string(meta["x-ahp-canvas/http"]) == "1"
}

// link is the http/1 connection to a provider that is no canvas.WebApp: one View for all
// requests of a canvas. It is made with the first request and again after it was lost.
type link struct {
	mu      sync.Mutex
	current *linkConn
}

// linkConn is one connection.
type linkConn struct {
	*bridge.Client
	view  *client.Client
	ended <-chan struct{} // closed when the connection is lost
}

// get returns the connection of a canvas.
func (l *link) get(ctx context.Context, g *Gateway, c *channel) (*linkConn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		select {
		case <-l.current.ended:
			l.current = nil // its goroutine closes it
		default:
			return l.current, nil
		}
	}
	view, err := g.opts.Connect(ctx, c.uri)
	if err != nil {
		return nil, err
	}
	conn := &linkConn{view: view, ended: view.Disconnected()}
	conn.Client = bridge.NewClient(bridge.ClientOptions{Send: func(payload ahp.Value) error {
		_, err := view.DispatchAsync(c.uri, canvas.Message{Payload: payload})
		return err
	}})
	l.current = conn
	answers := view.Watch(c.uri) // before the first request is sent
	g.serving.Go(func() { conn.follow(g.ctx, c, answers) })
	return conn, nil
}

// follow gives the connection its messages until the canvas or the connection ends.
func (conn *linkConn) follow(ctx context.Context, c *channel, answers *client.Watch) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	defer conn.view.Close()
	defer conn.Close()
	defer answers.Close()
	for ev, err := range answers.All(ctx) {
		switch {
		case err != nil, ev.Kind == client.EventGone:
			return
		case ev.Kind == client.EventRefused:
			conn.refused(ev.Raw)
		default:
			if m, ok := ev.Action.(canvas.Message); ok {
				conn.Message(m.Payload)
			}
		}
	}
}

// refused passes a message that the host rejected to the http/1 client.
func (conn *linkConn) refused(action ahp.Value) {
	var m struct {
		Payload ahp.Value `json:"payload,omitzero"`
		Extra   ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(action, &m) == nil {
		conn.Refused(m.Payload)
	}
}

// forward sends a request over http/1.
func (g *Gateway) forward(w http.ResponseWriter, r *http.Request, c *channel) {
	if r.Header.Get("Upgrade") != "" {
		standalone.Fail(w, r, http.StatusNotImplemented, textSockets)
		return
	}
	conn, err := c.link.get(r.Context(), g, c)
	if err != nil {
		standalone.Fail(w, r, http.StatusServiceUnavailable, textStale)
		return
	}
	proxy := &httputil.ReverseProxy{
		Transport:     conn,
		FlushInterval: -1, // event streams must not be buffered
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.Scheme, out.Out.URL.Host = "http", r.Host // the provider knows the app's
			out.Out.Header.Del("Cookie")                          // the provider has the app's cookies
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if e, ok := errors.AsType[*bridge.Error](err); ok {
				standalone.Fail(w, r, e.Status, e.Message)
				return
			}
			standalone.Fail(w, r, http.StatusBadGateway, "The connection to this canvas was lost.")
		},
	}
	proxy.ServeHTTP(w, r)
}
