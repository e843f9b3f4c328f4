package programtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
)

// natsServer starts a NATS server in this process.
func natsServer(t *testing.T) *natsd.Server { return natsServerFor(t, "", "") }

// natsServerFor starts a NATS server that one user may use; "" is everyone.
func natsServerFor(t *testing.T, user, password string) *natsd.Server {
	t.Helper()
	s, err := natsd.NewServer(&natsd.Options{Host: "127.0.0.1", Port: natsd.RANDOM_PORT, NoSigs: true, NoLog: true, Username: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("NATS does not start")
	}
	return s
}

// fleetEdge is one relay of a fleet.
type fleetEdge struct {
	*program
	at, admin string
}

// signedKey makes signed tokens of a host.
func (m *machine) signedKey(dir, host string) (relaykey.Key, string) {
	m.t.Helper()
	var k relaykey.Key
	file := filepath.Join(dir, host+".json")
	made := m.do(0, "relay", "token", "--sign", filepath.Join(dir, "relay.key"), "--host", host, "--valid", "1h")
	if err := json.Unmarshal([]byte(made), &k); err != nil || k.HostTokenID == "" || k.ClientTokenID == "" {
		m.t.Fatalf("%s, %v", made, err)
	}
	if err := os.WriteFile(file, []byte(made), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return k, file
}

// startFleet starts relays that share a NATS server and accept signed tokens.
func (m *machine) startFleet(dir, nats string, n int) (edges []fleetEdge) {
	m.t.Helper()
	revoked := filepath.Join(dir, "revoked")
	if err := os.WriteFile(revoked, nil, 0o600); err != nil {
		m.t.Fatal(err)
	}
	var allowed []string
	for range n {
		at := "ws://127.0.0.1:" + freePort(m.t) + "/"
		edges = append(edges, fleetEdge{at: at, admin: "http://127.0.0.1:" + freePort(m.t)})
		allowed = append(allowed, "--edges", at)
	}
	for i := range edges {
		e := &edges[i]
		e.program = m.start(append([]string{"relay", "--nats", nats, "--advertise", e.at, "--listen", strings.Trim(e.at, "ws:/"), "--admin", strings.TrimPrefix(e.admin, "http://"),
			"--token-key", filepath.Join(dir, "relay.key.pub"), "--revoked", revoked, "--drain", "1s"}, allowed...)...)
	}
	return edges
}

// TestFleet runs three relays as one: every client reaches every host, whichever relays
// they have. A token that is revoked ends what it opened, and a relay without NATS is degraded.
func TestFleet(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	nats := natsServer(t)
	keys := map[string]relaykey.Key{}
	file := ""
	for _, host := range []string{"one", "two", "three"} {
		keys[host], file = m.signedKey(dir, host)
	}
	edges := m.startFleet(dir, nats.ClientURL(), 3)
	s := m.serve("--state", "memory", "--relay", edges[2].at, "--relay-token-file", file, "--relay-edges", "ws://127.0.0.1:1", "--relay-edges", edges[0].at, "--relay-edges", edges[1].at)
	edges[2].errs.await(t, `"host registered"`)
	for i, host := range []string{"one", "two"} {
		echoAt(t, edges[i].at, keys[host])
		edges[i].errs.await(t, `"host registered"`)
	}
	var last *ws.Conn
	for _, e := range edges {
		for _, host := range []string{"one", "two"} {
			last = m.lane(e.at, host, keys[host].ClientToken)
		}
		c, err := client.Dial(t.Context(), e.at+"ahp/three", client.Options{Token: keys["three"].ClientToken, HostToken: s.ViewToken, Seal: identityOf(t, s.Link)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := client.Call(t.Context(), c, ahp.Ping, ahp.PingParams{Channel: ahp.RootURI}); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(s.Link, edges[2].at[len("ws"):]) {
		t.Errorf("the link is %s", s.Link)
	}
	metrics := body(t, edges[0].admin+"/metrics")
	for _, want := range []string{"ahp_relay_nats_connected 1", "ahp_relay_edges 2", `ahp_relay_signals_total{result="answered"} 2`, "ahp_relay_join_seconds_count 3", "ahp_relay_lanes 3", "ahp_relay_draining 0"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	m.refusesTokens(edges[0].at, keys)
	if err := os.WriteFile(filepath.Join(dir, "revoked"), []byte(keys["two"].ClientTokenID+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := last.ReadMessage(); ws.CodeOf(err) != relay.CodeWithdrawn {
		t.Errorf("a revoked token's lane ended with %v", err)
	}
	nats.Shutdown()
	edges[1].errs.await(t, "NATS was lost")
	if health := body(t, edges[1].admin+"/healthz"); !strings.HasPrefix(health, "degraded: NATS") {
		t.Errorf("the health is %q", health)
	}
	m.lane(edges[0].at, "one", keys["one"].ClientToken)
	for i, e := range edges {
		if code := e.stop(); code != 0 {
			t.Errorf("edge %d ended with %d", i, code)
		}
		for _, k := range keys {
			if log := e.errs.String(); strings.Contains(log, k.HostToken) || strings.Contains(log, k.ClientToken) {
				t.Errorf("the log of edge %d has a token:\n%s", i, log)
			}
		}
	}
}

// refusesTokens checks how a relay refuses tokens: by a status before the upgrade.
func (m *machine) refusesTokens(at string, keys map[string]relaykey.Key) {
	m.t.Helper()
	for name, c := range map[string]struct {
		path, token string
		want        int
	}{
		"another host":     {"ahp/one", keys["two"].ClientToken, http.StatusForbidden},
		"another audience": {"host/one", keys["one"].ClientToken, http.StatusForbidden},
		"a changed one":    {"ahp/one", keys["one"].ClientToken + "A", http.StatusUnauthorized},
	} {
		_, err := ws.Dial(m.t.Context(), at+c.path, ws.DialOptions{Token: c.token})
		if !strings.Contains(fmt.Sprint(err), fmt.Sprint(c.want)) {
			m.t.Errorf("%s: %v", name, err)
		}
	}
}

// echoAt runs a host in this process that repeats what it receives, until the test ends.
func echoAt(t *testing.T, at string, k relaykey.Key) {
	t.Helper()
	runUplink(t, relay.UplinkOptions{URL: at, Token: k.HostToken, Host: k.Host, Serve: func(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) {
		defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "") })()
		for {
			text, err := c.ReadMessage()
			if err != nil || c.WriteBatch([][]byte{text}) != nil {
				return
			}
		}
	}})
}

// runUplink keeps a host of this process registered until the test ends. end waits for that.
func runUplink(t *testing.T, o relay.UplinkOptions) (end func() error) {
	t.Helper()
	up, err := relay.NewUplink(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- up.Run(ctx) }()
	end = sync.OnceValue(func() error { return <-ended })
	t.Cleanup(func() { cancel(); _ = end() })
	return end
}

// lane connects a client by an edge, and checks that its host answers.
func (m *machine) lane(at, host, token string) *ws.Conn {
	m.t.Helper()
	c, err := ws.Dial(m.t.Context(), at+"ahp/"+host, ws.DialOptions{Token: token})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Close(ws.CodeNormal, ""); c.Wait() })
	if err := c.WriteBatch([][]byte{[]byte("hello")}); err != nil {
		m.t.Fatal(err)
	}
	if got, err := c.ReadMessage(); err != nil || string(got) != "hello" {
		m.t.Fatalf("%s at %s answers %q, %v", host, at, got, err)
	}
	return c
}
