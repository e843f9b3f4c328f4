package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// relayToken grants everything at a relay.
type relayToken struct{}

func (relayToken) Authorize(_ context.Context, _ relay.Audience, token, _ string) (relay.Grant, error) {
	if token != "relay-token" {
		return relay.Grant{}, relay.ErrUnknownToken
	}
	return relay.Grant{Subject: "laptop"}, nil
}

// startRelay starts a relay with the page, at which the host is registered as laptop, and
// returns its origin. The relay's token alone opens nothing at the host.
func startRelay(t *testing.T, h *host.Host) string {
	return startRelayWith(t, h, seal.NewHost(seal.NewKey(), "laptop", true), &recording{})
}

// startRelayWith is startRelay with the host's end of sealed connections. It records what
// the relay receives and sends.
func startRelayWith(t *testing.T, h *host.Host, sealing *seal.Host, all *recording) string {
	t.Helper()
	return serveAtRelay(t, all, func(ctx context.Context, socket *ws.Conn, lane relay.LaneInfo) {
		if sealing.Accept(ctx, socket, lane.Person) == nil {
			h.ServeSocket(socket, ws.Grant{Role: "none", Name: "relay " + lane.Person})
		}
	})
}

// serveAtRelay starts a relay with the page and a host that serves its connections, and
// returns the relay's origin.
func serveAtRelay(t testing.TB, all *recording, serve func(context.Context, *ws.Conn, relay.LaneInfo)) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	if all != nil {
		srv.Listener = recordingListener{srv.Listener, all}
	}
	at := strings.Replace(srv.Listener.Addr().String(), "127.0.0.1", "localhost", 1)
	edge := relay.New(relay.EdgeOptions{Hosts: []string{at}, Origins: []string{"http://" + at}, Authorizer: relayToken{}})
	page, err := web.New(web.Options{AppOrigins: []string{"http://" + at}, App: edge})
	if err != nil {
		t.Fatal(err)
	}
	srv.Config.Handler = http.Handler(page)
	srv.Start()
	registered := make(chan struct{}, 1)
	up, err := relay.NewUplink(relay.UplinkOptions{
		URL: "ws://" + at + "/", Token: "relay-token", Host: "laptop",
		Serve: serve,
		Progress: func(p relay.Progress) {
			if p.State == relay.Registered {
				registered <- struct{}{}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = up.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = edge.Close(context.Background())
		srv.Close()
	})
	<-registered
	return "http://" + at
}

// TestInvitationAtARelay: the page of a relay exchanges an invitation for a token of the
// browser and proves it after a reload. Another browser with the same link learns when it
// was used.
func TestInvitationAtARelay(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	origin := startRelay(t, e.host)
	code, _, err := e.host.AccessTokens().Create(token.Request{Kind: token.Invitation, Name: "a person", Role: host.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	link := web.InvitationAt(origin+"/#tkn=relay-token&host=laptop", code)
	b := webtest.Start(t)
	const ready = `document.body.dataset.connection === "ready"`
	p := b.Open(t, link)
	p.Wait(t, ready)
	p.Reload(t)
	p.Wait(t, ready)
	if tokens := e.host.AccessTokens().List(); len(tokens) != 2 {
		t.Errorf("tokens %+v, want the used invitation and the browser's", tokens)
	}
	webtest.Eval[any](t, p, `localStorage.clear()`)
	stranger := b.Open(t, link)
	stranger.Wait(t, fmt.Sprintf("(%s + document.body.innerText).includes(%q)", words, "This link was used already, at "))
}
