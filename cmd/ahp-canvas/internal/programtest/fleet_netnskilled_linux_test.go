package programtest

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// TestFleetOfNetworksKilled kills edges and NATS servers of a fleet across networks with
// SIGKILL, under requests. None is done twice, and all clients are answered soon again.
func TestFleetOfNetworksKilled(t *testing.T) {
	hosts, clients, edges, servers := 3, 12, 1, 1
	if os.Getenv("AHP_LONG") != "" {
		hosts, clients, edges, servers = 30, 300, 10, 5
	}
	name := func(i int) string { return fmt.Sprint("host-", i) }
	var names []string
	for i := range hosts {
		names = append(names, name(i))
	}
	f := newFarFleet(t, names...)
	trust := &tls.Config{RootCAs: f.roots}
	l := relaytest.NewLoad(t, func(host int) (*ws.Conn, error) {
		return ws.Dial(t.Context(), "wss://"+farName+"/ahp/"+name(host), ws.DialOptions{Token: f.keys[name(host)].ClientToken, NetDial: f.from(false), TLS: trust, HandshakeTimeout: 30 * time.Second})
	}, func() time.Duration { return rand.N(200 * time.Millisecond) }, relaytest.NotJoined)
	for i := range hosts {
		runUplink(t, relay.UplinkOptions{URL: "wss://" + farName + "/", Token: f.keys[name(i)].HostToken, Host: name(i), NetDial: f.from(true), TLS: trust, Serve: l.Serve})
	}
	l.Start(hosts, clients)
	var afterEdge, afterServer []time.Duration
	for range edges {
		e := f.edges[rand.N(len(f.edges))]
		e.kill()
		after(rand.N(500 * time.Millisecond))
		at := time.Now()
		e.start()
		afterEdge = append(afterEdge, l.Back("after a kill of an edge,", at)...)
	}
	for range servers {
		n := f.nats[rand.N(len(f.nats))]
		n.kill()
		after(rand.N(500 * time.Millisecond))
		at := time.Now()
		n.start(t)
		afterServer = append(afterServer, l.Back("after a kill of a NATS server,", at)...)
	}
	l.Stop()
	t.Logf("after the restart of an edge clients were answered: %s", relaytest.Quantiles(afterEdge))
	t.Logf("after the restart of a NATS server clients were answered: %s", relaytest.Quantiles(afterServer))
	l.Check()
	f.logsHaveNoTokens(t)
}
