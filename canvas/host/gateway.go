package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/gateway"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// openGateway makes the gateway, which gives each open canvas a separate address.
func (h *Host) openGateway() {
	h.views = newViewServer(h)
	h.gateway = gateway.New(gateway.Options{
		Instance: func(channel string) (gateway.Instance, bool) {
			live, ok := h.canvases.Content.Live(channel)
			app, _ := live.Instance.(canvas.WebApp)
			return gateway.Instance{State: live.State, App: app, Life: live.Life}, ok
		},
		Allowed: func(channel string) allow.List {
			live, _ := h.canvases.Content.Live(channel)
			return h.canvases.Allowed(live.State)
		},
		Exists: h.canvases.Content.Exists, Read: h.canvases.Content.Fetch,
		Connect: h.views.connect, Base: h.sites.contentBase, Files: frameFiles{h}, Logger: h.logger,
	})
	h.served = web.BodyTimeout(h.gateway)
}

// address returns the URL at which a client with a grant can show an open canvas, or "". It
// is the dialect's, see package dialect.
func (h *Host) address(channel string, st canvas.CanvasState, grant ws.Grant) string {
	if st.URL == nil {
		return ""
	}
	if ahp.SchemeOf(*st.URL) == ahp.SchemeContent && !h.reachesGateway(grant) {
		return ""
	}
	return h.gateway.Address(channel)
}

// direct is the method x-ahp-canvas/direct: the address of a canvas that the connection is
// subscribed to, for the frames of a page.
func (h *Host) direct(_ context.Context, from *channels.Subscriber, p canvas.DirectParams) (canvas.DirectResult, error) {
	subscribed := false
	h.log.View(func(tx *channels.ReadTx) { subscribed = tx.Subscribed(from, p.Channel) })
	if !subscribed {
		return canvas.DirectResult{}, ahp.ErrNotFound
	}
	address, err := h.gateway.Page(p.Channel, p.Label)
	if err == nil && (!h.opts.ListenerFrames || h.onlyBySockets(p.Channel)) {
		err = gateway.ErrNoAddress
	}
	switch {
	case errors.Is(err, gateway.ErrLabel):
		return canvas.DirectResult{}, ahp.Errorf(ahp.CodeInvalidParams, "%v", err)
	case err != nil:
		return canvas.DirectResult{}, ahp.Errorf(ahp.CodeNotFound, "%v", err)
	}
	return canvas.DirectResult{URL: address}, nil
}

// onlyBySockets reports whether the WebSockets of a canvas pass over its channel alone: its
// provider answers ws/1, and no plain HTTP.
func (h *Host) onlyBySockets(channel string) bool {
	live, _ := h.canvases.Content.Live(channel)
	_, app := live.Instance.(canvas.WebApp)
	return !app && canvas.AnswersSockets(live.State)
}

// frameFiles serves the files of the page's frames to the gateway.
type frameFiles struct{ host *Host }

func (f frameFiles) ServeFrameFile(w http.ResponseWriter, r *http.Request) bool {
	return f.host.sites.of(r).page.ServeFrameFile(w, r)
}

// reachesGateway reports whether addresses of the gateway are for a connection: its holder can
// use the canvas as a person, and addresses below localhost work on this machine
// only.
func (h *Host) reachesGateway(grant ws.Grant) bool {
	if grant.Role == RoleRead || grant.Role == RoleLook {
		return false
	}
	_, suffix, ok := h.sites.contentBase()
	return ok && (grant.Loopback || !isLoopbackSuffix(suffix))
}

// isLoopbackSuffix reports whether the names below a suffix are of this machine.
func isLoopbackSuffix(suffix string) bool {
	return (&url.URL{Host: suffix}).Hostname() == ".localhost"
}

// arrivedOnLoopback reports whether a request came to a name of this machine, from this
// machine. Behind a proxy the name is another one; through a tunnel addresses of localhost
// work as well.
func arrivedOnLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return false
	}
	return isLoopbackName((&url.URL{Host: r.Host}).Hostname())
}

// contentBase returns the scheme of canvases' addresses and what follows the first label of
// their hosts. ok is false if canvases have no names.
func (l *sites) contentBase() (scheme, suffix string, ok bool) {
	pattern := l.contentOrigin
	if pattern == "" {
		base, err := url.Parse(l.loopbackBase())
		if err != nil || base.Host == "" {
			return "", "", false
		}
		return "http", ".localhost:" + base.Port(), true
	}
	return web.ContentBase(pattern)
}

// viewServer accepts connections of the gateway's own Views inside the process.
type viewServer struct {
	host  *Host
	conns chan net.Conn
	done  chan struct{}
	srv   *http.Server
	wg    sync.WaitGroup
}

func newViewServer(h *Host) *viewServer {
	v := &viewServer{host: h, conns: make(chan net.Conn), done: make(chan struct{})}
	v.srv = &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second}
	v.wg.Go(func() { _ = v.srv.Serve(v) })
	return v
}

// connect makes a client that is subscribed to a channel, with the rights of a person.
func (v *viewServer) connect(ctx context.Context, channel string) (*client.Client, error) {
	return client.Dial(ctx, "ws://localhost"+ahpPath, client.Options{Subscriptions: []string{channel}, NetDial: v.dial})
}

func (v *viewServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case v.conns <- theirs:
		return ours, nil
	case <-v.done:
	case <-ctx.Done():
	}
	_, _ = ours.Close(), theirs.Close()
	return nil, net.ErrClosed
}

// ServeHTTP begins AHP on a connection of connect.
func (v *viewServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, err := ws.Upgrade(w, r, ws.Options{})
	if err != nil {
		return // Upgrade has answered
	}
	v.host.ServeSocket(socket, ws.Grant{Role: RoleView, Name: "an address of a canvas"})
}

// Accept implements net.Listener.
func (v *viewServer) Accept() (net.Conn, error) {
	select {
	case c := <-v.conns:
		return c, nil
	case <-v.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It does nothing: close ends the listener.
func (v *viewServer) Close() error { return nil }

// Addr implements net.Listener.
func (v *viewServer) Addr() net.Addr { return &net.UnixAddr{Name: "canvas", Net: "unix"} }

// close ends the server, and waits for it. Accepted connections are the host's.
func (v *viewServer) close() {
	close(v.done)
	_ = v.srv.Close()
	v.wg.Wait()
}
