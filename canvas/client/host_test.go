package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

const (
	testAddr  = "host.test:80"
	testURL   = "ws://" + testAddr + "/ahp"
	testToken = "a-view-token"

	sessionA = "ahp-session:/a"
	sessionB = "ahp-session:/b"
)

// network connects the hosts and clients of one test in memory.
type network struct {
	ahptest.Net
	proves bool // its hosts serve proofs, as canvas/host does
	mu     sync.Mutex
	wires  []*ahptest.Conn
}

func (n *network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := n.Net.Dial(ctx, network, addr)
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.wires = append(n.wires, nc.(*ahptest.Conn))
	}
	return nc, err
}

// cut breaks every connection, as a pulled plug does.
func (n *network) cut() { cutAll(n.takeWires()) }

// takeWires returns the connections since the last call.
func (n *network) takeWires() []*ahptest.Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	wires := n.wires
	n.wires = nil
	return wires
}

func cutAll(wires []*ahptest.Conn) {
	for _, w := range wires {
		w.CutAfter(0)
		_, _ = w.Write([]byte{0})
	}
}

// listen serves WebSockets until the test ends or stop is called.
func (n *network) listen(t testing.TB, serve func(*ws.Conn)) (stop func()) {
	t.Helper()
	return n.listenFor(t, testToken, serve)
}

func (n *network) listenFor(t testing.TB, token string, serve func(*ws.Conn)) (stop func()) {
	t.Helper()
	l, err := n.Listen(testAddr)
	if err != nil {
		t.Fatal(err)
	}
	guard := &ws.Guard{Hosts: []string{testAddr}, Tokens: []ws.Token{{Secret: token, Role: "view"}}}
	return ahptest.Serve(t, l, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); n.proves && r.URL.Path == proof.Path {
			fmt.Fprintln(w, proof.Of(token, q.Get("at"), q.Get("nonce")))
			return
		}
		if c, _, err := ws.Accept(w, r, ws.AcceptOptions{Guard: guard}); err == nil {
			serve(c)
		}
	})})
}

// testHost is a real host without its page and its MCP endpoint.
type testHost struct {
	t        testing.TB
	net      *network
	log      *channels.Log
	sessions *session.Service
	canvases *engine.Engine
	server   *server.Server
	stop     func()
	drains   chan func(func(moves bool)) // one of each connection
}

func newHost(t testing.TB, opts channels.Options) *testHost {
	t.Helper()
	h := &testHost{t: t, net: &network{}}
	h.start(opts)
	return h
}

// start assembles a host with two sessions and a note canvas; stop ends it.
func (h *testHost) start(opts channels.Options) {
	h.t.Helper()
	h.drains = make(chan func(func(moves bool)), 10_000)
	h.log = channels.New(opts)
	h.canvases = engine.New(engine.Options{Log: h.log, Caller: caller{h}})
	h.sessions = session.New(session.Options{Log: h.log, Prepare: h.canvases.Prepare, Vet: h.canvases.Clients.Vet, After: h.canvases.Clients.Fold, BeforeDispose: h.canvases.CloseSession})
	srv := server.New(server.Options{
		Log: h.log, Presence: h.sessions, Connectivity: h.canvases.Clients, Info: &ahp.ServerInfo{Name: "test host"},
		Methods: []server.Method{
			server.Handle(session.CreateSession, h.sessions.CreateSession),
			server.Handle(session.DisposeSession, h.sessions.DisposeSession).Concurrent(),
			server.Handle(session.ListSessions, h.sessions.ListSessions),
			server.HandleContent(canvas.CanvasReadResource, h.canvases.Content.CanvasReadResource),
		},
	})
	h.server = srv
	for _, uri := range []string{sessionA, sessionB} {
		if err := h.sessions.Ensure(uri, "Test"); err != nil {
			h.t.Fatal(err)
		}
	}
	_, err := h.canvases.Register(canvas.Extension{ID: "notes"}, canvas.Func(openNote),
		canvas.Declaration{CanvasID: "note", DisplayName: "Note", Description: "A note."})
	if err != nil {
		h.t.Fatal(err)
	}
	unlisten := h.net.listen(h.t, func(c *ws.Conn) {
		srv.ServeLane(c, ws.Grant{}, nil, func(drain func(func(moves bool))) { h.drains <- drain })
	})
	h.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = srv.Close(ctx)
		unlisten()
		_ = h.canvases.Shutdown(ctx)
	})
	h.t.Cleanup(h.stop)
}

// caller forwards to the server, which is made after the engine that needs a Caller.
type caller struct{ h *testHost }

func (c caller) Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error) {
	return c.h.server.Call(ctx, clientID, within, method, params)
}

func (c caller) Connection(clientID string) *channels.Subscriber {
	return c.h.server.Connection(clientID)
}

func (c caller) Capable(clientID, capability string) bool {
	return c.h.server.Capabilities(clientID).Has(capability)
}

// openNote opens a canvas that sends every message back to its View.
func openNote(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	return canvas.Opened{
		Title: "Note", URL: h.ContentURL("/"),
		Instance: &canvas.App{
			Files:     fstest.MapFS{"index.html": {Data: []byte("<p>a note")}, "dot.png": {Data: []byte{0x89, 0xff, 0}}},
			OnMessage: func(_ context.Context, from canvas.View, p ahp.Value) { _ = h.PostTo(h.Context(), from, p) },
		},
	}, nil
}

func (h *testHost) open(instance string) canvas.OpenCanvas {
	h.t.Helper()
	o, err := h.canvases.Open(context.Background(), canvas.OpenArgs{Session: sessionA, CanvasID: "note", InstanceID: instance})
	if err != nil {
		h.t.Fatal(err)
	}
	return o
}

// publish appends actions of the host to a channel.
func (h *testHost) publish(uri string, actions ...ahp.Action) {
	h.t.Helper()
	for _, a := range actions {
		if err := h.log.Update(func(tx *channels.Tx) error { return tx.Append(uri, a) }); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *testHost) dial(t testing.TB, opts client.Options) *client.Client {
	t.Helper()
	return dial(t, h.net, opts)
}

func dial(t testing.TB, n *network, opts client.Options) *client.Client {
	t.Helper()
	opts.Token = testToken
	if opts.NetDial == nil {
		opts.NetDial = n.Dial
	}
	c, err := client.Dial(t.Context(), testURL, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// next returns the next event, or fails.
func next(t testing.TB, w *client.Watch) client.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ev, err := w.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func title(s string) session.TitleChanged { return session.TitleChanged{Title: s} }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
