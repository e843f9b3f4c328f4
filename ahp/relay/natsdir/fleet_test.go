package natsdir

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// fleet are edges behind one name, relay.test, that a balancer in memory leads to any of
// them.
type fleet struct {
	t       testing.TB
	nats    []string
	options Options
	mu      sync.Mutex
	edges   []*edge
}

// edge is one edge of a fleet, with everything that it has open.
type edge struct {
	*relay.Edge
	dir  *Directory
	addr string
	http *http.Server
	done chan struct{}

	mu       sync.Mutex
	conns    map[net.Conn]bool
	draining bool
	stopped  bool
}

func allEdges(t testing.TB) relay.Edges {
	t.Helper()
	edges, err := relay.ParseEdges("ws://*.relay.test")
	if err != nil {
		t.Fatal(err)
	}
	return edges
}

// startFleet starts n edges.
func startFleet(t testing.TB, c *cluster, n int, options Options, grace time.Duration) *fleet {
	t.Helper()
	f := &fleet{t: t, options: options}
	for i := range c.options {
		f.nats = append(f.nats, c.url(i))
	}
	for i := range n {
		f.edges = append(f.edges, nil)
		f.start(i, grace)
	}
	t.Cleanup(func() {
		for i := range f.edges {
			f.kill(i)
		}
	})
	f.formed()
	return f
}

// formed waits until the edges know each other.
func (f *fleet) formed() {
	f.t.Helper()
	eventually(f.t, "the edges know each other", func() bool {
		for _, e := range f.edges {
			if s := e.dir.Stats(); s.State != Connected || s.Edges < len(f.edges)-1 {
				return false
			}
		}
		return true
	})
}

// start starts edge i, which takes the place of one that was killed.
func (f *fleet) start(i int, grace time.Duration, connect ...nats.Option) *edge {
	f.t.Helper()
	o := f.options
	o.URLs, o.Edges = f.nats, allEdges(f.t)
	if o.Heartbeat == 0 {
		o.Heartbeat = 200 * time.Millisecond
	}
	o.Connect = append([]nats.Option{nats.ReconnectWait(20 * time.Millisecond), nats.ReconnectJitter(20*time.Millisecond, 0)}, append(connect, o.Connect...)...)
	dir, err := Open(o)
	if err != nil {
		f.t.Fatal(err)
	}
	name := fmt.Sprintf("edge-%d.relay.test", i)
	e := &edge{dir: dir, done: make(chan struct{}), conns: map[net.Conn]bool{}}
	e.Edge = relay.New(relay.EdgeOptions{
		Hosts: []string{"relay.test", name}, Authorizer: everyone{}, Directory: dir, URL: "ws://" + name + "/", Edges: o.Edges, Logger: o.Logger,
		StartupGrace: grace, LanesPerHost: 1000, LanesPerClient: 1000, ClientRate: 1e6, HostRate: 1e6, AddressRate: 1e6, HostBurst: 1000,
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	e.addr = l.Addr().String()
	e.http = &http.Server{Handler: e.Edge, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { defer close(e.done); _ = e.http.Serve(tracked{l, e}) }()
	f.mu.Lock()
	f.edges[i] = e
	f.mu.Unlock()
	return e
}

// tracked is a listener whose connections a kill resets.
type tracked struct {
	net.Listener
	e *edge
}

func (l tracked) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	l.e.conns[c] = true
	return c, nil
}

// kill ends edge i as a killed process does: its connections are reset, no close frame is
// sent, and no drain is announced.
func (f *fleet) kill(i int) {
	f.mu.Lock()
	e := f.edges[i]
	f.mu.Unlock()
	e.mu.Lock()
	if e.stopped {
		e.mu.Unlock()
		return
	}
	e.stopped = true
	for c := range e.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
	e.mu.Unlock()
	e.dir.Close()
	_ = e.http.Close()
	<-e.done
	_ = e.Edge.Close(context.Background())
}

// drain stops edge i as a relay that gets SIGTERM does. From the beginning, the balancer
// sends no connection there.
func (f *fleet) drain(i int, within time.Duration) {
	f.mu.Lock()
	e := f.edges[i]
	f.mu.Unlock()
	e.mu.Lock()
	e.draining = true
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	e.Drain(ctx, nil)
	_ = e.Edge.Close(context.Background())
	f.kill(i)
}

// dial is the balancer, and the names of the edges.
func (f *fleet) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	f.mu.Lock()
	var to []string
	for i, e := range f.edges {
		e.mu.Lock()
		named := strings.HasPrefix(addr, fmt.Sprintf("edge-%d.", i))
		if named || strings.HasPrefix(addr, "relay.test") && !e.draining && !e.stopped {
			to = append(to, e.addr)
		}
		e.mu.Unlock()
	}
	f.mu.Unlock()
	if len(to) == 0 {
		return nil, fmt.Errorf("no edge for %s", addr)
	}
	return new(net.Dialer).DialContext(ctx, network, to[rand.N(len(to))])
}

// everyone is an Authorizer that accepts every token, and takes it as the subject.
type everyone struct{}

func (everyone) Authorize(_ context.Context, _ relay.Audience, token, _ string) (relay.Grant, error) {
	return relay.Grant{Subject: token, Lanes: 1000}, nil
}

// host is a running uplink.
type testHost struct {
	cancel context.CancelFunc
	ended  chan error
	states chan relay.Progress
	once   sync.Once
	err    error
}

// startHost starts a host that answers every message with "NAME: " and the message. It
// registers at edge at, or, if at is negative, at any.
func startHost(t testing.TB, f *fleet, name string, at int, opts relay.UplinkOptions) *testHost {
	t.Helper()
	opts.URL = "ws://relay.test/"
	if at >= 0 {
		opts.URL = fmt.Sprintf("ws://edge-%d.relay.test/", at)
	}
	opts.Host, opts.Token, opts.NetDial = name, "host", f.dial
	if opts.Serve == nil {
		opts.Serve = func(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) { answer1(ctx, c, name) }
	}
	if opts.Backoff == nil {
		opts.Backoff = quick()
	}
	h := &testHost{ended: make(chan error, 1), states: make(chan relay.Progress, 10000)}
	opts.Progress = func(p relay.Progress) { h.states <- p }
	u, err := relay.NewUplink(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	go func() { h.ended <- u.Run(ctx) }()
	t.Cleanup(func() { h.stop() })
	return h
}

func quick() backoff.BackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 10 * time.Millisecond, Multiplier: 1.5, MaxInterval: 200 * time.Millisecond, RandomizationFactor: 0.5}
}

func (h *testHost) stop() error {
	h.cancel()
	return h.end()
}

func (h *testHost) end() error {
	h.once.Do(func() { h.err = <-h.ended })
	return h.err
}

func (h *testHost) await(t testing.TB, s relay.State) {
	t.Helper()
	for {
		select {
		case p := <-h.states:
			if p.State == s {
				return
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("the host was not %s", s)
		}
	}
}

// hang serves a lane without an answer.
func hang(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) {
	defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "the host ends") })()
	for {
		if _, err := c.ReadMessage(); err != nil {
			return
		}
	}
}

func answer1(ctx context.Context, c *ws.Conn, name string) {
	defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "the host ends") })()
	for {
		m, err := c.ReadMessage()
		if err != nil || c.WriteBatch([][]byte{append([]byte(name+": "), m...)}) != nil {
			return
		}
	}
}

// tryClient connects a client to a host by edge at, or, if at is negative, by any.
func tryClient(f *fleet, host string, at int) (*ws.Conn, error) {
	to := "ws://relay.test/"
	if at >= 0 {
		to = fmt.Sprintf("ws://edge-%d.relay.test/", at)
	}
	return ws.Dial(context.Background(), to+"ahp/"+host, ws.DialOptions{Token: "client", NetDial: f.dial, HandshakeTimeout: 30 * time.Second})
}

func connectClient(t testing.TB, f *fleet, host string, at int) *ws.Conn {
	t.Helper()
	c, err := tryClient(f, host, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(ws.CodeNormal, ""); c.Wait() })
	return c
}

func wantAnswer(t testing.TB, c *ws.Conn, host, text string) {
	t.Helper()
	if got, err := relaytest.Ask(c, text); err != nil || got != host+": "+text {
		t.Fatalf("%s answers %.40q, %v", host, got, err)
	}
}

func wantClose(t testing.TB, c *ws.Conn, code ws.CloseCode) {
	t.Helper()
	defer time.AfterFunc(60*time.Second, func() { c.Close(ws.CodeInternal, "the test waited in vain") }).Stop()
	for {
		if _, err := c.ReadMessage(); err != nil {
			if ws.CodeOf(err) != code {
				t.Fatalf("closed with %v, want %d", err, code)
			}
			return
		}
	}
}

// registered waits until a host is registered at edge i alone, and until all servers of NATS
// know it.
func (f *fleet) registered(host string, i int) {
	f.t.Helper()
	eventually(f.t, host+" is registered", func() bool {
		for j, e := range f.edges {
			if (e.dir.localOf(key(host)) != nil) != (j == i) {
				return false
			}
		}
		return true
	})
	for _, e := range f.edges {
		_ = e.dir.nc.Flush() // its server knows what it no longer has
	}
	for j := range f.edges {
		if j != i {
			f.known(host, j)
		}
	}
}

// known waits until edge i can reach a host at another edge.
func (f *fleet) known(host string, i int) {
	f.t.Helper()
	eventually(f.t, host+" is known", func() bool {
		_, err := f.edges[i].dir.nc.Request("ahp-relay.host."+key(host), []byte("no offer"), 300*time.Millisecond)
		return err == nil
	})
}
