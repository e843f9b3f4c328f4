package natsdir

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// Every client reaches every host, whichever edge each of them has.
func TestEveryPairOfEdges(t *testing.T) {
	t.Parallel()
	f := startFleet(t, startCluster(t, 3), 3, Options{}, -1)
	for i := range f.edges {
		startHost(t, f, fmt.Sprint("host-", i), i, relay.UplinkOptions{})
	}
	for i := range f.edges {
		f.registered(fmt.Sprint("host-", i), i)
	}
	for client := range f.edges {
		for host := range f.edges {
			name := fmt.Sprint("host-", host)
			wantAnswer(t, connectClient(t, f, name, client), name, "hello")
		}
	}
	for i, e := range f.edges {
		if s, d := e.Stats(), e.dir.Stats(); s.LanesOpened != 3 || d.Sent != 2 || d.Answered != 2 || d.Received < 2 {
			t.Errorf("edge %d counts %+v, %+v", i, s, d)
		}
	}
}

// A host that no edge has is offline at once: NATS reports that no edge subscribes.
func TestOfflineAtOnce(t *testing.T) {
	t.Parallel()
	f := startFleet(t, startCluster(t, 3), 2, Options{Timeout: time.Hour}, -1)
	wantClose(t, connectClient(t, f, "absent", 0), relay.CodeHostOffline)
	if s := f.edges[0].dir.Stats(); s.Offline != 1 || s.Unanswered != 0 {
		t.Errorf("%+v", s)
	}
}

// An edge that does not answer leaves open whether it has the host.
func TestAnUnansweredOffer(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	f := startFleet(t, c, 1, Options{Timeout: 50 * time.Millisecond}, -1)
	silent, err := nats.Connect(c.url(0))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := silent.SubscribeSync("ahp-relay.host." + key("laptop")); err != nil {
		t.Fatal(err)
	}
	if err := silent.Flush(); err != nil {
		t.Fatal(err)
	}
	wantClose(t, connectClient(t, f, "laptop", 0), 1013)
	if s := f.edges[0].dir.Stats(); s.Unanswered != 1 || s.Offline != 0 {
		t.Errorf("%+v", s)
	}
}

// A newer run of a host ends the older one's registration and lanes at all edges.
func TestANewerRunElsewhere(t *testing.T) {
	t.Parallel()
	f := startFleet(t, startCluster(t, 3), 3, Options{}, -1)
	first := startHost(t, f, "laptop", 0, relay.UplinkOptions{Generation: 1, Serve: hang})
	f.registered("laptop", 0)
	lanes := map[int]interface{ Err() error }{}
	for at := range f.edges {
		c := connectClient(t, f, "laptop", at)
		lanes[at] = c
		defer wantClose(t, c, relay.CodeSuperseded)
	}
	eventually(t, "the lanes are open", func() bool {
		return f.edges[0].Stats().Lanes == 1 && f.edges[1].Stats().Lanes == 1 && f.edges[2].Stats().Lanes == 1
	})
	startHost(t, f, "laptop", 1, relay.UplinkOptions{Generation: 2})
	if err := first.end(); !errors.Is(err, relay.ErrSuperseded) {
		t.Errorf("the first ended with %v", err)
	}
	f.registered("laptop", 1)
	wantAnswer(t, connectClient(t, f, "laptop", 2), "laptop", "to the second")
	late := startHost(t, f, "laptop", 2, relay.UplinkOptions{Generation: 1})
	if err := late.end(); !errors.Is(err, relay.ErrSuperseded) {
		t.Errorf("the older one ended with %v", err)
	}
	wantAnswer(t, connectClient(t, f, "laptop", 2), "laptop", "still to the second")
}

// An edge with lanes of a host learns of each registration elsewhere, until it has none left.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	var dirs [2]*Directory
	for i := range dirs {
		d, err := Open(Options{URLs: []string{c.url(0)}, Edges: allEdges(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		eventually(t, "NATS is reached", func() bool { return d.Degraded() == nil })
		dirs[i] = d
	}
	generations := make(chan int64, 10)
	stop := dirs[0].Watch("laptop", func(generation int64) { generations <- generation })
	if err := dirs[0].nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, generation := range []int64{7, 8} {
		if _, err := dirs[1].Register(t.Context(), relay.Registration{Host: "laptop", Generation: generation, Superseded: func(int64) {}}); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-generations:
			if got != generation {
				t.Errorf("got %d, want %d", got, generation)
			}
		case <-time.After(time.Minute):
			t.Fatal("the registration was not announced")
		}
	}
	stop()
	dirs[0].mu.Lock()
	defer dirs[0].mu.Unlock()
	if len(dirs[0].hosts) != 0 {
		t.Error("the host is still watched")
	}
}

// A control connection that moved keeps its lanes at all edges, and only the later one
// counts.
func TestAControlConnectionMoves(t *testing.T) {
	t.Parallel()
	f := startFleet(t, startCluster(t, 3), 3, Options{}, -1)
	host := startHost(t, f, "laptop", -1, relay.UplinkOptions{Generation: 5})
	host.await(t, relay.Registered)
	at := func() (found int) {
		found = -1
		for i, e := range f.edges {
			if e.dir.localOf(key("laptop")) != nil {
				found = i
			}
		}
		return found
	}
	f.registered("laptop", at())
	lanes := [3]func(string){}
	for i := range f.edges {
		c := connectClient(t, f, "laptop", i)
		lanes[i] = func(text string) { t.Helper(); wantAnswer(t, c, "laptop", text) }
		lanes[i]("before")
	}
	old := at()
	stale := f.edges[old].dir.localOf(key("laptop")).news
	stale.Edge, stale.Connection, stale.Since = strings.Repeat("0", idLength), stale.Connection+1, 1
	f.edges[(old+1)%3].dir.publish("ahp-relay.reg."+key("laptop"), stale) // a later connection elsewhere
	host.await(t, relay.Lost)
	host.await(t, relay.Registered)
	eventually(t, "the host is registered", func() bool { return at() >= 0 })
	f.registered("laptop", at())
	for i := range f.edges {
		lanes[i]("after")
		wantAnswer(t, connectClient(t, f, "laptop", i), "laptop", "new")
	}
}

// While NATS is away, hosts of this edge can be reached from this edge, and others get a
// typed "try again". The registrations are announced again once it is back.
func TestNATSAway(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	f := startFleet(t, c, 2, Options{}, -1)
	startHost(t, f, "here", 0, relay.UplinkOptions{})
	startHost(t, f, "there", 1, relay.UplinkOptions{})
	f.registered("here", 0)
	f.registered("there", 1)
	lane := connectClient(t, f, "there", 0)
	wantAnswer(t, lane, "there", "before")
	c.stop(0)
	eventually(t, "the edges notice", func() bool {
		return f.edges[0].dir.Degraded() != nil && f.edges[1].dir.Degraded() != nil && f.edges[0].dir.Stats().State == Disconnected
	})
	wantAnswer(t, lane, "there", "meanwhile")
	wantAnswer(t, connectClient(t, f, "here", 0), "here", "new")
	wantClose(t, connectClient(t, f, "there", 0), 1013)
	startHost(t, f, "late", 1, relay.UplinkOptions{}).await(t, relay.Registered)
	if n := f.edges[0].Stats().Refused[relay.RefusedUnknown]; n != 1 {
		t.Errorf("%d refused", n)
	}
	if s := f.edges[0].dir.Stats(); s.Unavailable != 1 || s.Unanswered != 0 {
		t.Errorf("%+v", s)
	}
	c.start(0)
	eventually(t, "the registrations are announced", func() bool {
		return f.edges[0].dir.Degraded() == nil && f.edges[1].dir.Degraded() == nil && f.edges[1].dir.Stats().Announced >= 2
	})
	f.registered("there", 1)
	f.registered("late", 1)
	wantAnswer(t, connectClient(t, f, "there", 0), "there", "after")
	wantAnswer(t, connectClient(t, f, "late", 0), "late", "after")
}

// An edge starts without NATS, and is part of the fleet once NATS runs.
func TestNATSComesLater(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	c.stop(0)
	d, err := Open(Options{URLs: []string{c.url(0)}, Edges: allEdges(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Signal(t.Context(), "laptop", relay.Offer{Lane: "a", Secret: "s"}); !errors.Is(err, relay.ErrUnavailable) || d.Degraded() == nil {
		t.Errorf("%v", err)
	}
	c.start(0)
	eventually(t, "the edge reaches NATS", func() bool { return d.Degraded() == nil })
	if _, err := d.Signal(t.Context(), "laptop", relay.Offer{Lane: "a", Secret: "s"}); !errors.Is(err, relay.ErrOffline) {
		t.Errorf("%v", err)
	}
}

// NATS is cut for one edge while a host registers on both sides. Afterwards the newer run
// and its lanes remain.
func TestPartition(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3)
	cut := 2 * time.Second
	if long {
		cut = 30 * time.Second
	}
	f := startFleet(t, c, 2, Options{}, -1)
	way := newValve()
	f.edges = append(f.edges, nil)
	f.start(2, -1, through(way)...)
	eventually(t, "the third is heard", func() bool { return f.edges[0].dir.Stats().Edges == 2 && f.edges[2].dir.Stats().Edges == 2 })
	older := startHost(t, f, "laptop", 2, relay.UplinkOptions{Generation: 1, Serve: hang})
	f.registered("laptop", 2)
	began := time.Now()
	way.set(false)
	eventually(t, "the edge notices", func() bool { return f.edges[2].dir.Degraded() != nil })
	startHost(t, f, "laptop", 0, relay.UplinkOptions{Generation: 2}).await(t, relay.Registered)
	f.known("laptop", 1)
	oldLane, newLane := connectClient(t, f, "laptop", 2), connectClient(t, f, "laptop", 1)
	wantAnswer(t, newLane, "laptop", "to the newer one")
	eventually(t, "both sides have lanes", func() bool { return f.edges[2].Stats().Lanes == 1 })
	after(t.Context(), time.Until(began.Add(cut)))
	way.set(true)
	wantClose(t, oldLane, relay.CodeSuperseded)
	if err := older.end(); !errors.Is(err, relay.ErrSuperseded) {
		t.Errorf("the older one ended with %v", err)
	}
	for i := range f.edges {
		if d := f.edges[i].dir.localOf(key("laptop")); (d != nil) != (i == 0) {
			t.Errorf("edge %d has the host: %v", i, d != nil)
		}
	}
	f.registered("laptop", 0)
	wantAnswer(t, newLane, "laptop", "still")
	wantAnswer(t, connectClient(t, f, "laptop", 2), "laptop", "from the other side")
}

// An edge refuses offers with an edge that its list does not have, and the log has neither
// the secret nor the URL.
func TestAnOfferWithAnotherEdge(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	var log ahptest.Log
	f := startFleet(t, c, 1, Options{Logger: log.Logger()}, -1)
	startHost(t, f, "laptop", 0, relay.UplinkOptions{})
	f.registered("laptop", 0)
	rogue, err := nats.Connect(c.url(0))
	if err != nil {
		t.Fatal(err)
	}
	defer rogue.Close()
	for _, p := range []offer{
		{version, "a1", "the-secret", "ws://evil.example/"},
		{version, "a1", "the-secret", "ws://user:the-secret@edge-1.relay.test/"},
		{version, "a1", "the-secret", "wss://edge-1.relay.test/"},
		{version, "../a1", "the-secret", "ws://edge-1.relay.test/"},
		{version + 1, "a1", "the-secret", "ws://edge-1.relay.test/"},
	} {
		m, err := rogue.Request("ahp-relay.host."+key("laptop"), ahp.MustMarshal(p), time.Minute)
		var a answer
		if err != nil || decode(m.Data, &a) != nil || a.Error != errorEdge && a.Error != errorOffer {
			t.Errorf("%+v: %+v, %v", p, a, err)
		}
	}
	for _, data := range []string{"", "{", `{"v":1}`, strings.Repeat("x", 5000)} {
		for _, subject := range []string{"ahp-relay.edge", "ahp-relay.reg." + key("laptop")} {
			_ = rogue.Publish(subject, []byte(data))
		}
	}
	wantAnswer(t, connectClient(t, f, "laptop", 0), "laptop", "still here")
	if s := f.edges[0].dir.Stats(); s.Refused != 3 {
		t.Errorf("%d refused", s.Refused)
	}
	if text := log.String(); !strings.Contains(text, "not in the list") || strings.Contains(text, "the-secret") || strings.Contains(text, "evil") {
		t.Errorf("the log has %s", text)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"no URL":     {Edges: allEdges(t)},
		"no edges":   {URLs: []string{"nats://127.0.0.1:1"}},
		"prefix":     {URLs: []string{"nats://127.0.0.1:1"}, Edges: allEdges(t), Prefix: "a.*"},
		"scheme":     {URLs: []string{"http://u:hidden@127.0.0.1:1"}, Edges: allEdges(t)},
		"no host":    {URLs: []string{"nats://"}, Edges: allEdges(t)},
		"no URL %":   {URLs: []string{"nats://u:hidden@%zz"}, Edges: allEdges(t)},
		"creds":      {URLs: []string{"nats://127.0.0.1:1"}, Edges: allEdges(t), Creds: "/absent"},
		"CA":         {URLs: []string{"nats://127.0.0.1:1"}, Edges: allEdges(t), CA: "/absent"},
		"cert":       {URLs: []string{"nats://127.0.0.1:1"}, Edges: allEdges(t), Cert: "/absent", Key: "/absent"},
		"bad prefix": {URLs: []string{"nats://127.0.0.1:1"}, Edges: allEdges(t), Prefix: "a..b"},
	} {
		d, err := Open(o)
		if err == nil {
			d.Close()
		}
		if err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range []any{
		offer{version, "a1", "s", "wss://e/"}, answer{V: version, Generation: 7}, answer{V: version, Error: errorBusy},
		news{version, strings.Repeat("a", idLength), 1, 2, 3}, presence{version, strings.Repeat("a", idLength), 1, true},
	} {
		f.Add([]byte(ahp.MustMarshal(p)))
	}
	f.Add([]byte(`{"v":1,"v":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pair := range [][2]payload{{&offer{}, &offer{}}, {&answer{}, &answer{}}, {&news{}, &news{}}, {&presence{}, &presence{}}} {
			if decode(data, pair[0]) != nil {
				continue
			}
			if len(data) > payloadLimit {
				t.Errorf("%d bytes were taken", len(data))
			}
			again := ahp.MustMarshal(pair[0])
			if err := decode(again, pair[1]); err != nil && len(again) <= payloadLimit || err == nil && fmt.Sprintf("%+v", pair[0]) != fmt.Sprintf("%+v", pair[1]) {
				t.Errorf("%+v is not %+v, %v", pair[0], pair[1], err)
			}
		}
	})
}

// A NATS account that may not publish on the fleet's subjects reaches no host. The edge that
// has it cannot know more than that, and its log has no password.
func TestAnAccountWithoutRights(t *testing.T) {
	t.Parallel()
	_, port, _ := net.SplitHostPort(freeAddress(t))
	s := startServer(t, &server.Options{Host: "127.0.0.1", Port: number(port), NoSigs: true, NoLog: true, Users: []*server.User{
		{Username: "edge", Password: "edge-password"},
		{Username: "viewer", Password: "viewer-password", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"ahp-relay.>"}}}},
	}})
	defer s.WaitForShutdown()
	defer s.Shutdown()
	var log ahptest.Log
	dirs := map[string]*Directory{}
	for _, user := range []string{"edge", "viewer"} {
		d, err := Open(Options{URLs: []string{"nats://" + user + ":" + user + "-password@127.0.0.1:" + port}, Edges: allEdges(t), Timeout: 300 * time.Millisecond, Logger: log.Logger()})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		eventually(t, user+" reaches NATS", func() bool { return d.Degraded() == nil })
		dirs[user] = d
	}
	reached := make(chan relay.Offer, 10)
	remove, err := dirs["edge"].Register(t.Context(), relay.Registration{Host: "laptop", Generation: 1, Signal: func(o relay.Offer) error { reached <- o; return nil }, Superseded: func(int64) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if err := dirs["edge"].nc.Flush(); err != nil {
		t.Fatal(err)
	}
	_, err = dirs["viewer"].Signal(t.Context(), "laptop", relay.Offer{Lane: "a1", Secret: "the-secret", Edge: "ws://edge-1.relay.test/"})
	if !errors.Is(err, relay.ErrUnavailable) || len(reached) != 0 || dirs["edge"].Stats().Received != 0 {
		t.Errorf("%v, %d offers", err, len(reached))
	}
	eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "ermissions") })
	if text := log.String(); strings.Contains(text, "password") || strings.Contains(text, "the-secret") {
		t.Errorf("the log has %s", text)
	}
}
