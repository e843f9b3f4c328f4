package mcpapp_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// relayLink starts a relay, at which the host is registered, and returns a link for a person
// there.
func (e *env) relayLink(t *testing.T) string {
	t.Helper()
	origin := relaytest.Start(t, relaytest.Options{
		Page: func(origin string, edge *relay.Edge) (http.Handler, error) {
			return web.New(web.Options{AppOrigins: []string{origin}, App: edge})
		},
		Serve: func(_ context.Context, socket *ws.Conn, lane relay.LaneInfo) {
			e.host.ServeSocket(socket, ws.Grant{Role: "none", Name: "relay " + lane.Person})
		},
	})
	code, _, err := e.host.AccessTokens().Create(token.Request{Kind: token.Invitation, Name: "a person", Role: host.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	return web.InvitationAt(origin+"/#tkn="+relaytest.Token+"&host="+relaytest.Host, code)
}
