package relay

import (
	"context"
	"fmt"
	"net/http"
	"strings"
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

// TestPeopleOnOneLink: the host can tell the people apart who share a link, and does not
// learn their addresses.
func TestPeopleOnOneLink(t *testing.T) {
	n := kernel()
	proxies, err := remote.Parse([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	tokens := testTokens()
	for _, name := range []string{"link", "other"} {
		tokens[name] = TokenEntry{Audience: ForClient, Subject: name, Hosts: []string{"laptop"}}
	}
	startEdge(t, n, EdgeOptions{Authorizer: tokens, Proxies: proxies})
	people := make(chan string, 1)
	startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, lane LaneInfo) {
		people <- lane.Person
		echo(ctx, c, lane)
	}}).await(t, Registered)
	seen := map[string]string{}
	for range 2 {
		for _, who := range []string{"link 203.0.113.5", "link 203.0.113.6", "other 203.0.113.5"} {
			token, addr, _ := strings.Cut(who, " ")
			c, err := tryDial(t, n, "ahp/laptop", ws.DialOptions{Token: token, Header: http.Header{"X-Forwarded-For": {addr}}})
			if err != nil {
				t.Fatal(err)
			}
			wantEcho(t, c, "in")
			person := <-people
			if before, known := seen[person]; len(person) != 16 || known && before != who {
				t.Errorf("%s is %q, as is %s", who, person, before)
			}
			seen[person] = who
		}
	}
	if len(seen) != 3 {
		t.Errorf("three people have %d names", len(seen))
	}
}
