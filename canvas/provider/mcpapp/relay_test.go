package mcpapp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// relayToken grants everything at a relay.
type relayToken struct{}

func (relayToken) Authorize(_ context.Context, _ relay.Audience, token, _ string) (relay.Grant, error) {
	if token != "relay-token" {
		return relay.Grant{}, relay.ErrUnknownToken
	}
	return relay.Grant{Subject: "laptop"}, nil
}

// relayLink starts a relay, at which the host is registered, and returns a link for a person
// there.
func (e *env) relayLink(t *testing.T) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
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
		Serve: func(_ context.Context, socket *ws.Conn, lane relay.LaneInfo) {
			e.host.ServeSocket(socket, ws.Grant{Role: "none", Name: "relay " + lane.Person})
		},
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
	code, _, err := e.host.AccessTokens().Create(token.Request{Kind: token.Invitation, Name: "a person", Role: host.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	return web.InvitationAt("http://"+at+"/#tkn=relay-token&host=laptop", code)
}
