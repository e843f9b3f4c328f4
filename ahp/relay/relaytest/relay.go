package relaytest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// The relay has one token, which permits everything, and one host.
const (
	Token = "relay-token"
	Host  = "laptop"
)

// Options configures a relay. Serve is required.
type Options struct {
	// Serve takes over the lanes of the host.
	Serve func(ctx context.Context, socket *ws.Conn, lane relay.LaneInfo)
	// Page returns what the relay serves, for example the page in front of the edge; nil is
	// the edge alone.
	Page func(origin string, edge *relay.Edge) (http.Handler, error)
	// Listen wraps the relay's listener; it may be nil.
	Listen func(net.Listener) net.Listener
}

// Start starts a relay, and returns its origin once the host is registered there. It ends
// with the test.
func Start(t testing.TB, o Options) (origin string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	if o.Listen != nil {
		srv.Listener = o.Listen(srv.Listener)
	}
	at := strings.Replace(srv.Listener.Addr().String(), "127.0.0.1", "localhost", 1)
	origin = "http://" + at
	edge := relay.New(relay.EdgeOptions{Hosts: []string{at}, Origins: []string{origin}, Authorizer: oneToken{}})
	srv.Config.Handler = edge
	if o.Page != nil {
		page, err := o.Page(origin, edge)
		if err != nil {
			t.Fatal(err)
		}
		srv.Config.Handler = page
	}
	srv.Start()
	stop := register(t, "ws://"+at+"/", o.Serve)
	t.Cleanup(func() {
		stop()
		_ = edge.Close(context.Background())
		srv.Close()
	})
	return origin
}

// oneToken is an Authorizer that permits everything to Token.
type oneToken struct{}

func (oneToken) Authorize(_ context.Context, _ relay.Audience, token, _ string) (relay.Grant, error) {
	if token != Token {
		return relay.Grant{}, relay.ErrUnknownToken
	}
	return relay.Grant{Subject: Host}, nil
}

// register registers the host. stop ends its uplink and waits for it.
func register(t testing.TB, url string, serve func(context.Context, *ws.Conn, relay.LaneInfo)) (stop func()) {
	t.Helper()
	registered := make(chan struct{}, 1)
	up, err := relay.NewUplink(relay.UplinkOptions{URL: url, Token: Token, Host: Host, Serve: serve, Progress: func(p relay.Progress) {
		if p.State == relay.Registered {
			select {
			case registered <- struct{}{}:
			default: // again, after a lost connection
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- up.Run(ctx) }()
	select {
	case <-registered:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	return func() { cancel(); <-ended }
}
