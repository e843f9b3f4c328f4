package relay

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
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

// A host declines an offer whose edge it does not trust: the client gets a typed close, the
// host's log says so, and it has no secret.
func TestAHostDeclinesAForeignEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		made := 0
		startEdge(t, n, EdgeOptions{URL: "ws://evil.test/", NewSecret: func() string { made++; return fmt.Sprint("made-", made) }})
		allowed, err := ParseEdges("ws://*.relay.test")
		if err != nil {
			t.Fatal(err)
		}
		var log ahptest.Log
		u := startUplink(t, n, UplinkOptions{Edges: allowed, Logger: log.Logger()})
		u.await(t, Registered)
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), noAnswer.Code, noAnswer.Reason)
		if text := log.String(); !strings.Contains(text, "evil.test") || !strings.Contains(text, "--relay-edges") || !strings.Contains(text, "made-1") || strings.Contains(text, "made-2") {
			t.Errorf("the log has %s", text)
		}
	})
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

// A draining edge leaves a lane to a client that moves away, however silent it is. A host that
// does not answer the notice is one that does not know it.
func TestAClientMovesAwayFromADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, late := range []bool{false, true} { // whether the host asks for the drain after it has begun
			n := inMemory()
			e := startEdge(t, n, EdgeOptions{Directory: &elsewhereFleet{Directory: NewDirectory(), watched: map[string]func(int64){}}})
			asked, begun := make(chan func(bool), 1), make(chan struct{})
			u := startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, lane LaneInfo) {
				if late {
					<-begun
				}
				lane.OnDrain(func(answer func(bool)) { asked <- answer })
				echo(ctx, c, lane)
			}})
			u.await(t, Registered)
			c := dialHost(t, n, "laptop", userToken, ws.Options{})
			synctest.Wait()
			drained := make(chan struct{})
			go func() { defer close(drained); e.Drain(context.Background(), nil) }()
			synctest.Wait()
			close(begun)
			if late {
				wantEcho(t, c, "read") // the notice waits for the reader
			}
			(<-asked)(true)
			time.Sleep(20 * time.Second)
			if s := e.Stats(); s.Lanes != 1 {
				t.Fatalf("late %v: the lane ended: %+v", late, s)
			}
			wantEcho(t, c, "still here")
			if late { // it cannot leave
				wantClose(t, c, moved.Code, moved.Reason)
			}
			c.Close(ws.CodeNormal, "")
			within(t, drained)
			if err := u.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A host that does not know the notice of a drain has time to answer it; then its lanes are
// closed as before.
func TestAnOlderHostAtADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{Directory: &elsewhereFleet{Directory: NewDirectory(), watched: map[string]func(int64){}}})
		u := startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, lane LaneInfo) {
			c.OnPing(func(string) {})
			echo(ctx, c, lane)
		}})
		u.await(t, Registered)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "joined")
		began, drained := time.Now(), make(chan struct{})
		go func() { defer close(drained); e.Drain(context.Background(), nil) }()
		wantClose(t, c, moved.Code, moved.Reason)
		if d := time.Since(began); d < unanswered || d > unanswered+2*drainInterval {
			t.Errorf("closed after %s", d)
		}
		within(t, drained)
		if err := u.stop(); err != nil {
			t.Error(err)
		}
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

// elsewhereFleet is a directory with other edges, which the test plays.
type elsewhereFleet struct {
	Directory
	mu        sync.Mutex
	watched   map[string]func(int64)
	unsettled time.Time
	left      bool
}

func (f *elsewhereFleet) Watch(host string, registered func(int64)) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched[host] = registered
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watched, host)
	}
}

func (f *elsewhereFleet) Unsettled() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unsettled
}

func (f *elsewhereFleet) Leave() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = true
	return true
}

func (f *elsewhereFleet) register(host string, generation int64) bool {
	f.mu.Lock()
	registered := f.watched[host]
	f.mu.Unlock()
	if registered != nil {
		registered(generation)
	}
	return registered != nil
}

// A run of the host that registers at another edge ends the lanes of older runs here, even if
// those runs are dead, and no others.
func TestARunElsewhereEndsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		f := &elsewhereFleet{Directory: NewDirectory(), watched: map[string]func(int64){}}
		e := startEdge(t, n, EdgeOptions{Directory: f, StartupGrace: -1})
		control := register(t, n, 2)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		offer := readOffer(t, control)
		if _, err := tryDial(t, n, "lane/"+offer.Lane, ws.DialOptions{Token: offer.Secret}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, generation := range []int64{1, 2} {
			if !f.register("laptop", generation) {
				t.Error("the host is not watched")
			}
		}
		synctest.Wait()
		if s := e.Stats(); s.Lanes != 1 {
			t.Fatalf("the same run registered elsewhere: %+v", s)
		}
		f.register("laptop", 3)
		wantClose(t, c, CodeSuperseded, superseded.Reason)
		time.Sleep(5 * time.Second) // the host's end does not answer the close
		if f.register("laptop", 4) {
			t.Error("the host is still watched, without a lane")
		}
	})
}

// While hosts move between edges, a client waits for a host that has not registered since,
// and finds it at another edge.
func TestAClientWaitsWhileHostsMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		f := &elsewhereFleet{Directory: NewDirectory(), watched: map[string]func(int64){}}
		startEdge(t, n, EdgeOptions{Directory: f})
		time.Sleep(time.Minute)
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "host offline")
		f.mu.Lock()
		f.unsettled = time.Now()
		f.mu.Unlock()
		began := time.Now()
		waiting := dialHost(t, n, "laptop", userToken, ws.Options{})
		time.Sleep(3 * time.Second)
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		wantEcho(t, waiting, "found")
		if d := time.Since(began); d > 4*time.Second {
			t.Errorf("it took %s", d)
		}
		wantClose(t, dialHost(t, n, "absent", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("an absent host was waited for until %s", d)
		}
	})
}

// A host counts the lanes of one token at all edges.
func TestAHostCountsAClientsLanes(t *testing.T) {
	n := kernel()
	f := &elsewhereFleet{Directory: NewDirectory(), watched: map[string]func(int64){}}
	startEdge(t, n, EdgeOptions{Directory: f})
	u := startUplink(t, n, UplinkOptions{})
	u.await(t, Registered)
	client := clientName(Grant{Subject: "ann"})
	var releases []func()
	for range 299 { // at other edges
		release, ok := u.lanes.countClient(client, 300)
		if !ok {
			t.Fatal("refused")
		}
		releases = append(releases, release)
	}
	wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "the last one")
	wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeTooMany, limitReasons[RefusedClient])
	releases[0]()
	wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "again")
}
