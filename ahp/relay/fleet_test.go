package relay

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func TestEdgesAllow(t *testing.T) {
	e, err := ParseEdges("wss://*.relay.example", "wss://edge:8443/at/", "ws://[::1]:80")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseEdges(strings.Fields(e.String())...)
	if err != nil || again.String() != e.String() {
		t.Errorf("%q, %v", again, err)
	}
	for url, want := range map[string]bool{
		"wss://edge-3.relay.example/": true, "wss://edge-3.relay.example:443": true, "wss://EDGE.relay.example": true,
		"wss://edge:8443/at": true, "ws://[::1]/": true,
		"": false, "wss://relay.example": false, "wss://a.b.relay.example": false, "ws://edge-3.relay.example": false,
		"wss://.relay.example": false, "wss://edge-3.relay.example:8443": false, "wss://edge-3.relay.example/x": false,
		"wss://u@edge-3.relay.example": false, "wss://edge-3.relay.example?x": false, "wss://edge-3.relay.example#x": false,
		"wss://*.relay.example": false, "wss://edge-3.relay.example.evil": false, "wss://evil/.relay.example": false,
		"https://edge-3.relay.example": false, "wss://evil\\.relay.example": false,
	} {
		if got := e.Allows(url); got != want {
			t.Errorf("%q is allowed: %v", url, got)
		}
		if (Edges{}).Allows(url) {
			t.Errorf("no edges allow %q", url)
		}
	}
	for _, bad := range []string{"", "relay.example", "https://relay.example", "wss://", "wss://*", "wss://*.", "wss://a.*.example", "wss://u:p@a", "wss://a?b", "wss://a b"} {
		if _, err := ParseEdges(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, err := ParseEdges(strings.Fields(strings.Repeat("wss://edge.relay.example ", 65))...); err == nil {
		t.Error("65 patterns were taken")
	}
}

// A host dials an edge that an offer names only if the relay listed it and the host's own
// options, if there are any, have it, too.
func TestTheRelaysListOfEdges(t *testing.T) {
	parse := func(patterns ...string) Edges {
		e, err := ParseEdges(patterns...)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	const named = "wss://edge-2.example/"
	for _, c := range []struct {
		own, listed Edges
		want        bool
	}{
		{Edges{}, Edges{}, false},
		{Edges{}, parse("wss://*.example"), true},
		{parse("wss://*.example"), Edges{}, true},
		{parse("wss://*.example"), parse(named), true},
		{parse("wss://other.example"), parse(named), false},
		{parse(named), parse("wss://other.example"), false},
	} {
		u, err := NewUplink(UplinkOptions{URL: "wss://relay.example/", Token: "t", Host: "h", Serve: echo, Edges: c.own})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.edge(named, c.listed); (err == nil) != c.want {
			t.Errorf("own %q, listed %q: %v", c.own, c.listed, err)
		}
	}
}

// A draining edge accepts neither lanes nor hosts, asks its hosts to move, and closes each lane
// once the host has answered and the lane is silent.
func TestAnEdgeDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{StartupGrace: -1})
		control := register(t, n, 1)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		offer := readOffer(t, control)
		host, err := tryDial(t, n, "lane/"+offer.Lane, ws.DialOptions{Token: offer.Secret})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := host.ReadMessage(); err != nil { // the opening message
			t.Fatal(err)
		}
		_ = c.WriteBatch([][]byte{[]byte("a request")})
		if _, err := host.ReadMessage(); err != nil {
			t.Fatal(err)
		}
		drained, accepting := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(drained)
			e.Drain(context.Background(), func() { close(accepting) })
		}()
		within(t, accepting)
		if data, err := control.ReadMessage(); err != nil || !strings.Contains(string(data), typeDrain) {
			t.Errorf("the host got %s, %v", data, err)
		}
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), goingAway.Code, goingAway.Reason)
		late, err := tryDial(t, n, "host/laptop", ws.DialOptions{Token: hostToken})
		if err != nil {
			t.Fatal(err)
		}
		wantClose(t, late, goingAway.Code, goingAway.Reason)
		time.Sleep(3 * time.Second)
		if s := e.Stats(); s.Lanes != 1 || !s.Draining {
			t.Errorf("a lane whose client waits for an answer ended: %+v", s)
		}
		_ = host.WriteBatch([][]byte{[]byte("the answer")})
		if m, err := c.ReadMessage(); err != nil || string(m) != "the answer" {
			t.Errorf("%q, %v", m, err)
		}
		answered := time.Now()
		wantClose(t, c, moved.Code, moved.Reason)
		if d := time.Since(answered); d < quiet || d > quiet+2*drainInterval {
			t.Errorf("closed after %s", d)
		}
		within(t, drained)
	})
}

// A draining edge closes what stays busy only when the time is up.
func TestDrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "joined")
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		go func() { e.Drain(ctx, nil); _ = e.Close(context.Background()) }()
		began := time.Now()
		var err error
		for ; err == nil; time.Sleep(100 * time.Millisecond) {
			_, err = say(c, "still busy")
		}
		if d := time.Since(began); d < 10*time.Second || ws.CodeOf(err) != goingAway.Code || !strings.Contains(err.Error(), goingAway.Reason) {
			t.Errorf("after %s: %v", d, err)
		}
	})
}
