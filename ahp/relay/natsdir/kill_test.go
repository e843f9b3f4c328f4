package natsdir

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// startLoad starts hosts and clients, and returns once each client was answered.
func startLoad(t *testing.T, f *fleet, hosts, clients int, think func() time.Duration, known func(error) bool) *relaytest.Load {
	name := func(i int) string { return fmt.Sprint("host-", i) }
	l := relaytest.NewLoad(t, func(host int) (*ws.Conn, error) { return tryClient(f, name(host), -1) }, think, known)
	for i := range hosts {
		startHost(t, f, name(i), -1, relay.UplinkOptions{Serve: l.Serve})
	}
	l.Start(hosts, clients)
	return l
}

// Edges and NATS servers are killed while clients send requests: each request is done
// once, or ends with an error and was done at most once.
func TestKills(t *testing.T) {
	if !long { // figures are taken alone
		t.Parallel()
	}
	edges, servers, hosts, clients := 5, 2, 6, 30
	if long {
		edges, servers, hosts, clients = 50, 20, 30, 300
	}
	c := startCluster(t, 3)
	f := startFleet(t, c, 3, Options{}, 10*time.Second)
	think := func() time.Duration { return rand.N(20 * time.Millisecond) }
	l := startLoad(t, f, hosts, clients, think, relaytest.NotJoined)
	var afterEdge, afterServer []time.Duration
	for range edges {
		i := rand.N(len(f.edges))
		f.kill(i)
		after(t.Context(), rand.N(300*time.Millisecond))
		f.start(i, 10*time.Second)
		afterEdge = append(afterEdge, l.Back("after a kill of an edge,", time.Now())...)
		f.formed()
	}
	for range servers {
		i := rand.N(len(c.servers))
		c.stop(i)
		after(t.Context(), rand.N(300*time.Millisecond))
		c.start(i)
		afterServer = append(afterServer, l.Back("after a kill of a NATS server,", time.Now())...)
		c.formed()
		f.formed()
	}
	l.Stop()
	t.Logf("after the restart of an edge clients were answered: %s", relaytest.Quantiles(afterEdge))
	t.Logf("after the restart of a NATS server clients were answered: %s", relaytest.Quantiles(afterServer))
	l.Check()
}

// Three edges are restarted one after the other under load. No request is lost, none is
// done twice, and none fails: one that crosses the close of its lane was not forwarded, and its
// client sends it again.
func TestRollingRestart(t *testing.T) {
	if !long { // figures are taken alone
		t.Parallel()
	}
	hosts, clients, rounds := 6, 30, 1
	if long {
		hosts, clients, rounds = 30, 300, 3
	}
	f := startFleet(t, startCluster(t, 3), 3, Options{}, 10*time.Second)
	think := func() time.Duration {
		return []time.Duration{0, rand.N(20 * time.Millisecond), rand.N(900 * time.Millisecond)}[rand.N(3)]
	}
	l := startLoad(t, f, hosts, clients, think, relaytest.NotPassed) // no drain's time is up here
	for range rounds {
		for i := range f.edges {
			began := time.Now()
			f.drain(i, 50*time.Second)
			if d := time.Since(began); d >= 50*time.Second {
				t.Errorf("edge %d did not drain", i)
			}
			f.start(i, 10*time.Second)
			f.formed()
			l.Back("after a restart", time.Now())
		}
	}
	l.Stop()
	if n := l.Failed(); n != 0 {
		t.Errorf("%d requests failed", n)
	}
	l.Check()
}

// Lanes across edges against lanes at one edge, in one run.
func TestLaneOpening(t *testing.T) {
	n := 40
	if long {
		n = 1000
	}
	f := startFleet(t, startCluster(t, 3), 3, Options{}, 10*time.Second)
	startHost(t, f, "laptop", 0, relay.UplinkOptions{})
	f.registered("laptop", 0)
	took := [2][]time.Duration{}
	var trips []time.Duration
	for i := range n {
		for at := range 2 {
			began := time.Now()
			c, err := tryClient(f, "laptop", at*(1+i%2))
			if err != nil {
				t.Fatal(err)
			}
			wantAnswer(t, c, "laptop", "hello")
			took[at] = append(took[at], time.Since(began))
			c.Close(ws.CodeNormal, "")
			c.Wait()
		}
		began := time.Now()
		if _, err := f.edges[1].dir.nc.Request("ahp-relay.host."+key("laptop"), []byte("no offer"), time.Minute); err != nil {
			t.Fatal(err)
		}
		trips = append(trips, time.Since(began))
	}
	t.Logf("%d lanes at one edge: %s", n, relaytest.Quantiles(took[0]))
	t.Logf("%d lanes across edges: %s", n, relaytest.Quantiles(took[1]))
	t.Logf("%d round trips of NATS: %s", n, relaytest.Quantiles(trips))
}
