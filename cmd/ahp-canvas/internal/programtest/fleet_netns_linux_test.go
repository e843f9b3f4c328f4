package programtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
)

// The second place of a fleet's edges has a cable to each other network.
const (
	islandToHost, hostToIsland     = "10.231.3.1", "10.231.3.2"
	islandToClient, clientToIsland = "10.231.4.1", "10.231.4.2"
	relayToIsland, islandToRelay   = "10.231.5.1", "10.231.5.2"
)

// farFleet are three edges, each with a NATS server of one cluster. Two are in one place; the
// third is on an island, whose NATS server reaches the others over one cable. Host and client
// are in separate networks, and reach all edges.
type farFleet struct {
	network
	island string
	roots  *x509.CertPool
	keys   map[string]relaykey.Key
	nats   []*natsProcess
	edges  []*farEdge
}

type farEdge struct {
	*program
	m    *machine
	args []string
	logs []*lockedBuffer // of all its runs
}

func (e *farEdge) start() {
	e.program = e.m.start(e.args...)
	e.logs = append(e.logs, e.errs)
}

// farEdges are the addresses of the edges for the host and for the client, by their names.
var farEdges = []struct{ name, toHost, toClient string }{
	{"edge-0.relay.test:8443", relayToHost + ":8443", relayToClient + ":8443"},
	{"edge-1.relay.test:8444", relayToHost + ":8444", relayToClient + ":8444"},
	{"edge-2.relay.test:8445", islandToHost + ":8445", islandToClient + ":8445"},
}

func newFarFleet(t *testing.T, hosts ...string) *farFleet {
	t.Helper()
	f := &farFleet{network: newNetwork(t), keys: map[string]relaykey.Key{}}
	f.island = addNamespace(t, "island")
	wire(t, f.island, "to-host", islandToHost, f.host, "to-island", hostToIsland)
	wire(t, f.island, "to-client", islandToClient, f.client, "to-island", clientToIsland)
	wire(t, f.relay, "to-island", relayToIsland, f.island, "to-relay", islandToRelay)
	dir := t.TempDir()
	cert, key := ahptest.WriteCertificate(t, dir, 1, "relay.test", "*.relay.test")
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM(pem)
	m := newMachine(t)
	for _, host := range hosts {
		f.keys[host], _ = m.signedKey(dir, host)
	}
	places := []string{f.relay, f.relay, f.island}
	routes := []string{"nats://" + relayToIsland + ":6222", "nats://" + relayToIsland + ":6223", "nats://" + islandToRelay + ":6224"}
	for i, place := range places {
		f.nats = append(f.nats, &natsProcess{config: natsConfig{Host: "0.0.0.0", Name: fmt.Sprint("nats-", i), Port: 4222 + i, Route: 6222 + i, Routes: routes}, via: via(place)})
		f.nats[i].start(t)
		t.Cleanup(f.nats[i].kill)
	}
	for i, e := range farEdges {
		edge := &farEdge{m: newMachine(t)}
		edge.m.via = via(places[i])
		_, port, _ := net.SplitHostPort(e.name)
		edge.args = []string{"relay", "--listen", "0.0.0.0:" + port, "--advertise", "wss://" + e.name, "--edges", "wss://*.relay.test:8443", "--edges", "wss://*.relay.test:8444", "--edges", "wss://*.relay.test:8445",
			"--nats", fmt.Sprint("nats://127.0.0.1:", 4222+i), "--token-key", filepath.Join(dir, "relay.key.pub"), "--drain", "0s",
			"--tls-cert", cert, "--tls-key", key, "--origin", "https://relay.test", "--content-origin", "https://*.canvas.test", "--admin", farAdmin(i)}
		edge.start()
		f.edges = append(f.edges, edge)
	}
	return f
}

// farName is a name that leads to any edge.
const farName = "relay.test"

// farAdmin is the address of an edge for health and metrics, in its own network.
func farAdmin(i int) string { return fmt.Sprint("127.0.0.1:", 9100+i) }

// knows waits until an edge knows how many others it has.
func (f *farFleet) knows(t *testing.T, i, others int) {
	t.Helper()
	hc := &http.Client{Transport: &http.Transport{DialContext: dialer([]string{f.relay, f.relay, f.island}[i]), DisableKeepAlives: true}}
	untilTrue(t, fmt.Sprintf("edge %d with %d others", i, others), func() bool {
		resp, err := hc.Get("http://" + farAdmin(i) + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		return err == nil && strings.Contains(string(all), fmt.Sprintf("\nahp_relay_edges %d\n", others))
	})
}

// from returns a dial function from the host's network or the client's.
func (f *farFleet) from(host bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := dialer(f.client)
	if host {
		dial = dialer(f.host)
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		err := fmt.Errorf("no edge %q", addr)
		for _, i := range rand.Perm(len(farEdges)) {
			e := farEdges[i]
			to := e.toClient
			if host {
				to = e.toHost
			}
			if addr != e.name && addr != farName+":443" {
				continue
			}
			var c net.Conn
			if c, err = dial(ctx, network, to); err == nil {
				return c, nil
			}
		}
		return nil, err
	}
}

// register registers a run of a host at an edge. It answers each message with its generation.
func (f *farFleet) register(t *testing.T, host string, edge int, generation int64) (end func() error) {
	t.Helper()
	registered, said := make(chan struct{}, 1000), &ahptest.Log{}
	end = runUplink(t, relay.UplinkOptions{
		URL: "wss://" + farEdges[edge].name + "/", Token: f.keys[host].HostToken, Host: host, Generation: generation, NetDial: f.from(true), TLS: &tls.Config{RootCAs: f.roots}, Logger: said.Logger(),
		Progress: func(p relay.Progress) {
			if p.State == relay.Registered {
				registered <- struct{}{}
			}
			said.Logger().Info(string(p.State), "err", p.Err)
		},
		Serve: func(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) {
			defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "") })()
			for {
				if _, err := c.ReadMessage(); err != nil || c.WriteBatch([][]byte{fmt.Appendf(nil, "%s %d", host, generation)}) != nil {
					return
				}
			}
		},
	})
	select {
	case <-registered:
	case <-time.After(15 * time.Second):
		t.Fatalf("%s does not register at edge %d: %s", host, edge, said)
	}
	return end
}

// lane connects a client by an edge, and returns what its host answers.
func (f *farFleet) lane(t *testing.T, host string, edge int) (*ws.Conn, string, error) {
	t.Helper()
	c, err := ws.Dial(t.Context(), "wss://"+farEdges[edge].name+"/ahp/"+host, ws.DialOptions{Token: f.keys[host].ClientToken, NetDial: f.from(false), TLS: &tls.Config{RootCAs: f.roots}, HandshakeTimeout: 30 * time.Second})
	if err != nil {
		return nil, "", err
	}
	t.Cleanup(func() { c.Close(ws.CodeNormal, ""); c.Wait() })
	answer, err := relaytest.Ask(c, "who")
	return c, answer, err
}

// reaches waits until a client by an edge reaches a run of a host.
func (f *farFleet) reaches(t *testing.T, host string, edge int, generation int64) {
	t.Helper()
	untilTrue(t, fmt.Sprintf("lane by edge %d to %s %d", edge, host, generation), func() bool {
		_, answer, err := f.lane(t, host, edge)
		return err == nil && answer == fmt.Sprintf("%s %d", host, generation)
	})
}

// TestFleetOfNetworks runs a fleet across networks. Every client reaches every host. While
// the cluster of NATS is cut in two, a host registers on both sides; when the cable is back, the
// newer run remains, and its lanes alone.
func TestFleetOfNetworks(t *testing.T) {
	hosts := []string{"host-0", "host-1", "host-2", "laptop"}
	f := newFarFleet(t, hosts...)
	for i := range farEdges {
		f.register(t, hosts[i], i, 1)
	}
	for i := range farEdges {
		for j := range farEdges {
			f.reaches(t, hosts[j], i, 1)
		}
	}
	older := f.register(t, "laptop", 2, 1)
	f.reaches(t, "laptop", 0, 1)
	oldLane, _, err := f.lane(t, "laptop", 2)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ip(t, "-n", f.relay, "link", "set", "to-island", "down")
	f.register(t, "laptop", 0, 2)
	f.reaches(t, "laptop", 1, 2)
	if os.Getenv("AHP_LONG") != "" { // until the edges and the NATS servers have given each other up
		f.knows(t, 2, 0)
		f.knows(t, 0, 1)
		after(time.Until(began.Add(30 * time.Second)))
	}
	if _, answer, err := f.lane(t, "host-0", 2); ws.CodeOf(err) != ws.CodeTryLater && ws.CodeOf(err) != relay.CodeHostOffline {
		t.Errorf("by the island, a host elsewhere answers %q, %v", answer, err)
	} else {
		t.Logf("by the island, a host elsewhere ends with %v", err)
	}
	f.reaches(t, "host-2", 2, 1) // at this edge
	if answer, err := relaytest.Ask(oldLane, "who"); err != nil || answer != "laptop 1" {
		t.Errorf("the older run answers %q, %v", answer, err)
	}
	newLane, _, err := f.lane(t, "laptop", 1)
	if err != nil {
		t.Fatal(err)
	}
	ip(t, "-n", f.relay, "link", "set", "to-island", "up")
	healed := time.Now()
	if err := older(); !errors.Is(err, relay.ErrSuperseded) {
		t.Errorf("the older run ended with %v", err)
	}
	t.Logf("cut for %s; %s later the older run ended", healed.Sub(began).Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
	for err == nil {
		_, err = oldLane.ReadMessage()
	}
	if ws.CodeOf(err) != relay.CodeSuperseded {
		t.Errorf("the older run's lane ended with %v", err)
	}
	if answer, err := relaytest.Ask(newLane, "who"); err != nil || answer != "laptop 2" {
		t.Errorf("the newer run answers %q, %v", answer, err)
	}
	f.reaches(t, "laptop", 2, 2)
	f.logsHaveNoTokens(t)
}

func (f *farFleet) logsHaveNoTokens(t *testing.T) {
	t.Helper()
	for i, e := range f.edges {
		for _, errs := range e.logs {
			for _, k := range f.keys {
				if log := errs.String(); strings.Contains(log, k.HostToken) || strings.Contains(log, k.ClientToken) {
					t.Errorf("the log of edge %d has a token", i)
				}
			}
		}
	}
}
