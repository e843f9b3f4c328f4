package relay

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
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

// TestATeamAtOneAddress: 50 people behind one address connect with one link although an
// attacker there has taken all lanes of the address. The attacker keeps the rest, and the
// people can open a second tab.
func TestATeamAtOneAddress(t *testing.T) {
	n := kernel()
	proxies, err := remote.Parse([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	tokens := testTokens()
	tokens["link"] = TokenEntry{Audience: ForClient, Subject: "laptop", Hosts: []string{"laptop"}}
	e := startEdge(t, n, EdgeOptions{Authorizer: tokens, Proxies: proxies})
	people := make(chan string, 1)
	startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, lane LaneInfo) {
		people <- lane.Person
		echo(ctx, c, lane)
	}}).await(t, Registered)
	dial := func(opened string) *ws.Conn {
		o := ws.DialOptions{Token: "link", Header: http.Header{"X-Forwarded-For": {"203.0.113.5"}}}
		if opened != "" {
			o.Subprotocols = ws.Opened(opened)
		}
		c, err := tryDial(t, n, "ahp/laptop", o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	enter := func(opened string) (*ws.Conn, string) {
		c := dial(opened)
		wantEcho(t, c, "in")
		return c, <-people
	}
	var his []*ws.Conn
	for range 96 {
		c, _ := enter("")
		his = append(his, c)
	}
	wantClose(t, dial(""), CodeTooMany, "too many connections from this address")
	names := map[string]string{}
	for i := range 50 {
		id := fmt.Sprint("person-", i)
		_, names[id] = enter(id)
	}
	wantClose(t, his[95], CodeTooMany, "others who opened this link have no connection")
	wantEcho(t, his[0], "in")
	if r := e.Stats(); r.Evicted != 50 {
		t.Errorf("%d evicted", r.Evicted)
	}
	different := map[string]bool{}
	for _, who := range names {
		different[who] = true
	}
	for i := range 20 { // a second tab
		id := fmt.Sprint("person-", i)
		if _, again := enter(id); again != names[id] {
			t.Errorf("%s is %q and then %q", id, names[id], again)
		}
	}
	if len(different) != 50 {
		t.Errorf("50 people have %d names", len(different))
	}
}

// TestManyNamesAreOne: an address that names links quickly counts as one client above its
// limit, and takes no lane of the people who came before.
func TestManyNamesAreOne(t *testing.T) {
	var q quotas
	q.init(EdgeOptions{}.withDefaults())
	addr, grant := netip.MustParsePrefix("203.0.113.5/32"), Grant{Subject: "laptop"}
	ended := map[int]bool{}
	var places []*place
	for i := range 200 {
		p, why := q.take("laptop", grant, addr, fmt.Sprint("name-", i), func() { ended[i] = true })
		if why == "" {
			places = append(places, p)
		}
	}
	if len(places) != 96 || !places[63].apart || places[64].apart || len(ended) != 0 {
		t.Errorf("%d lanes, %d of them ended", len(places), len(ended))
	}
	p, why := q.take("laptop", grant, addr, "name-3", func() {})
	if why != "" || !p.apart || len(ended) != 1 {
		t.Errorf("the fourth person comes with a second tab: %v, %d ended", why, len(ended))
	}
	for _, p := range append(places, p) {
		q.release(p)
		q.release(p)
	}
	if len(q.places) != 0 || p.host.lanes != 0 || p.client.lanes != 0 || p.address.lanes != 0 || p.link.lanes != 0 {
		t.Errorf("left: %d %+v", len(q.places), p)
	}
}
