package relay

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

const (
	edgeHost   = "relay.test:80"
	edgeURL    = "ws://" + edgeHost + "/"
	pageOrigin = "http://relay.test:80"
	hostToken  = "the-host-token-of-laptop"
	userToken  = "the-client-token-of-ann"
)

// fixed is an Authorizer with a few tokens.
type fixed map[string]TokenEntry

func (f fixed) Authorize(_ context.Context, audience Audience, token, host string) (Grant, error) {
	row, ok := f[token]
	switch {
	case !ok:
		return Grant{}, ErrUnknownToken
	case row.Audience != audience || !row.validFor(host):
		return Grant{}, ErrForbidden
	}
	return Grant{Subject: row.Subject, ClientID: row.ClientID, Lanes: row.Lanes}, nil
}

func testTokens() fixed {
	return fixed{
		hostToken: {Audience: ForHost, Subject: "laptop", Hosts: []string{"laptop"}},
		userToken: {Audience: ForClient, Subject: "ann", Hosts: []string{"laptop", "absent"}, ClientID: "ann-1", Lanes: 300},
		"other":   {Audience: ForClient, Subject: "bob", Hosts: []string{"desktop"}},
	}
}

// network connects the parties of a test: in memory, or over loopback.
type network struct {
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	listen func() (net.Listener, error)
}

func inMemory() *network {
	mem := &ahptest.Net{}
	return &network{dial: mem.Dial, listen: func() (net.Listener, error) { return mem.Listen(edgeHost) }}
}

// kernel listens on loopback and dials it for every name.
func kernel() *network {
	var addr string
	var mu sync.Mutex
	return &network{
		dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			mu.Lock()
			at := addr
			mu.Unlock()
			return new(net.Dialer).DialContext(ctx, network, at)
		},
		listen: func() (net.Listener, error) {
			mu.Lock()
			defer mu.Unlock()
			at := addr
			if at == "" {
				at = "127.0.0.1:0"
			}
			l, err := net.Listen("tcp", at)
			if err == nil {
				addr = l.Addr().String()
			}
			return l, err
		},
	}
}

// edgeServer is a running edge with its server.
type edgeServer struct {
	*Edge
	http *http.Server
	done chan struct{}
	once sync.Once
}

func startEdge(t testing.TB, n *network, opts EdgeOptions) *edgeServer {
	t.Helper()
	if opts.Hosts == nil {
		opts.Hosts, opts.Origins = []string{edgeHost}, []string{pageOrigin}
	}
	if opts.Authorizer == nil {
		opts.Authorizer = testTokens()
	}
	l, err := n.listen()
	if err != nil {
		t.Fatal(err)
	}
	e := &edgeServer{Edge: New(opts), done: make(chan struct{})}
	e.http = &http.Server{Handler: e.Edge, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { defer close(e.done); _ = e.http.Serve(l) }()
	t.Cleanup(e.stop)
	return e
}

// stop ends an edge as if it were killed, except that it still sends close
// frames.
func (e *edgeServer) stop() {
	e.once.Do(func() {
		_ = e.http.Close()
		<-e.done
		_ = e.Close(context.Background())
	})
}

// uplink is a running uplink with the states that it reported.
type uplink struct {
	*Uplink
	cancel context.CancelFunc
	ended  chan error
	states chan Progress
	err    error
	once   sync.Once
}

func startUplink(t testing.TB, n *network, opts UplinkOptions) *uplink {
	t.Helper()
	u := &uplink{ended: make(chan error, 1), states: make(chan Progress, 1000)}
	if opts.URL == "" {
		opts.URL = edgeURL
	}
	if opts.Token == "" {
		opts.Token = hostToken
	}
	if opts.Host == "" {
		opts.Host = "laptop"
	}
	if opts.Serve == nil {
		opts.Serve = echo
	}
	opts.NetDial = n.dial
	opts.Progress = func(p Progress) {
		select {
		case u.states <- p:
		default:
		}
	}
	var err error
	if u.Uplink, err = NewUplink(opts); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	u.cancel = cancel
	go func() { u.ended <- u.Run(ctx) }()
	t.Cleanup(func() { _ = u.stop() })
	return u
}

func (u *uplink) stop() error {
	u.cancel()
	u.once.Do(func() { u.err = <-u.ended })
	return u.err
}

// await waits for a state.
func (u *uplink) await(t testing.TB, s State) Progress {
	t.Helper()
	for {
		p := within(t, u.states)
		if p.State == s {
			return p
		}
	}
}

// echo returns every message to its sender, until the lane ends or the host
// drains.
func echo(ctx context.Context, c *ws.Conn, _ LaneInfo) {
	defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "echo ends") })()
	c.SetReadLimit(ws.ClientReadLimit)
	for {
		m, err := c.ReadMessage()
		if err != nil || c.WriteBatch([][]byte{m}) != nil {
			return
		}
	}
}

func dialHost(t testing.TB, n *network, host, token string, conn ws.Options) *ws.Conn {
	t.Helper()
	c, err := tryDial(t, n, "ahp/"+host, ws.DialOptions{Token: token, Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tryDial dials an endpoint. The connection ends with the test.
func tryDial(t testing.TB, n *network, endpoint string, opts ws.DialOptions) (*ws.Conn, error) {
	t.Helper()
	if opts.NetDial == nil {
		opts.NetDial = n.dial
	}
	c, err := ws.Dial(context.Background(), edgeURL+endpoint, opts)
	if err == nil {
		t.Cleanup(func() {
			c.Close(ws.CodeNormal, "")
			c.Wait()
		})
	}
	return c, err
}

// say sends a message and reads its echo.
func say(c *ws.Conn, text string) (string, error) {
	if err := c.WriteBatch([][]byte{[]byte(text)}); err != nil {
		return "", err
	}
	m, err := c.ReadMessage()
	return string(m), err
}

func wantEcho(t testing.TB, c *ws.Conn, text string) {
	t.Helper()
	got, err := say(c, text)
	if err != nil || got != text {
		t.Fatalf("the echo of %.40q is %.40q, %v", text, got, err)
	}
}

// wantClose reads until the connection ends and checks the close code and
// reason.
func wantClose(t testing.TB, c *ws.Conn, code ws.CloseCode, reason string) {
	t.Helper()
	defer time.AfterFunc(5*time.Minute, func() { c.Close(ws.CodeInternal, "the test waited in vain") }).Stop()
	for {
		_, err := c.ReadMessage()
		if err == nil {
			continue
		}
		ce, ok := err.(*ws.CloseError)
		if !ok || ce.Code != code || ce.Reason != reason {
			t.Fatalf("got %v, want %d %q", err, code, reason)
		}
		return
	}
}

// within fails the test if f takes longer than any real machine should need.
func within[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(50 * time.Second):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

// eventually polls until the condition holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("this did not come to pass: " + what)
		}
	}
}
