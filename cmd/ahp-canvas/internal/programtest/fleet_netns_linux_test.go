package programtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
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

// farFleet are three edges: two beside the NATS server, and one on an island that reaches NATS
// over one cable. Host and client are in separate networks, and reach all edges.
type farFleet struct {
	network
	island string
	roots  *x509.CertPool
	keys   map[string]relaykey.Key
	errs   []*lockedBuffer
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
	nats := &natsProcess{config: natsConfig{Host: "0.0.0.0", Name: "nats", Port: 4222}, via: via(f.relay)}
	nats.start(t)
	t.Cleanup(nats.kill)
	for i, e := range farEdges {
		edge := newMachine(t)
		edge.via = via([]string{f.relay, f.relay, f.island}[i])
		_, port, _ := net.SplitHostPort(e.name)
		p := edge.start("relay", "--listen", "0.0.0.0:"+port, "--advertise", "wss://"+e.name, "--edges", "wss://*.relay.test:8443", "--edges", "wss://*.relay.test:8444", "--edges", "wss://*.relay.test:8445",
			"--nats", []string{"nats://127.0.0.1:4222", "nats://127.0.0.1:4222", "nats://" + relayToIsland + ":4222"}[i], "--token-key", filepath.Join(dir, "relay.key.pub"), "--drain", "0s",
			"--tls-cert", cert, "--tls-key", key, "--origin", "https://relay.test", "--content-origin", "https://*.canvas.test", "--admin", "127.0.0.1:910"+fmt.Sprint(i))
		f.errs = append(f.errs, p.errs)
	}
	return f
}

// from returns a dial function from the host's network or the client's.
func (f *farFleet) from(host bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := dialer(f.client)
	if host {
		dial = dialer(f.host)
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		for _, e := range farEdges {
			if e.name == addr && host {
				return dial(ctx, network, e.toHost)
			} else if e.name == addr {
				return dial(ctx, network, e.toClient)
			}
		}
		return nil, fmt.Errorf("no edge %q", addr)
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
// the island is cut off from NATS a host registers on both sides; when the cable is back, the
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
	if os.Getenv("AHP_LONG") != "" {
		f.errs[2].await(t, "NATS was lost")
		if _, answer, err := f.lane(t, "host-0", 2); ws.CodeOf(err) != ws.CodeTryLater {
			t.Errorf("by the island, a host elsewhere answers %q, %v", answer, err)
		}
		after(time.Until(began.Add(30 * time.Second)))
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
	for i, errs := range f.errs {
		for _, k := range f.keys {
			if log := errs.String(); strings.Contains(log, k.HostToken) || strings.Contains(log, k.ClientToken) {
				t.Errorf("the log of edge %d has a token", i)
			}
		}
	}
}
