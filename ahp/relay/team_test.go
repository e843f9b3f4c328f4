package relay

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// One holder of a link who opens all the lanes that an address can have leaves space for a
// team of 50 with the same link, over real sockets. A second token has a separate count.
func TestATeamOnOneLink(t *testing.T) {
	n := kernel()
	proxies, err := remote.Parse([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	tokens := testTokens()
	tokens["link"] = TokenEntry{Audience: ForClient, Subject: "laptop", Hosts: []string{"laptop"}}
	e := startEdge(t, n, EdgeOptions{Authorizer: tokens, Proxies: proxies})
	startUplink(t, n, UplinkOptions{}).await(t, Registered)
	dial := func(from string) *ws.Conn {
		c, err := tryDial(t, n, "ahp/laptop", ws.DialOptions{Token: "link", Header: http.Header{"X-Forwarded-For": {from}}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range 96 {
		wantEcho(t, dial("203.0.113.5"), "in")
	}
	wantClose(t, dial("203.0.113.5"), CodeTooMany, "too many connections from this address")
	for i := range 50 {
		wantEcho(t, dial(fmt.Sprintf("198.51.100.%d", i)), "in")
	}
	wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "in")
	if r := e.Stats(); r.Lanes != 147 || r.Refused[RefusedNetwork] != 1 {
		t.Errorf("%+v", r)
	}
}
