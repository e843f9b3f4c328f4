package programtest

import (
	"encoding/json"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	cmdrelay "github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relay"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// numbers returns the metrics of an admin listener that have no labels, by name.
func numbers(t *testing.T, admin string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+) (\S+)$`).FindAllStringSubmatch(body(t, "http://"+admin+"/metrics"), -1) {
		all[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return all
}

// openSilent opens connections, one after the other, that send nothing.
func openSilent(t *testing.T, at string, n int) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
}

// awaitLimit waits until the metrics show three silent connections where two are allowed.
// The third is refused; on a slow machine it replaces the first.
func awaitLimit(t *testing.T, admin, prefix string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		have := numbers(t, admin)
		open, most := have[prefix+"http_connections"], have[prefix+"http_connections_max"]
		away := have[prefix+"http_refused_total"] + have[prefix+"http_ended_total"]
		if open == 2 && most == 2 && away == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v open of %v, %v turned away", prefix, open, most, away)
		}
	}
}

// TestConnectionLimits checks that a host and a relay have as many connections as
// their flags allow.
func TestConnectionLimits(t *testing.T) {
	m := newMachine(t)
	admin := "127.0.0.1:" + freePort(t)
	s := m.serve("--state", "memory", "--admin", admin, "--max-http", "2", "--max-connections", "1")
	for n, want := range []ws.CloseCode{0, ws.CodeTryLater} {
		c, err := ws.Dial(t.Context(), s.AHP, ws.DialOptions{Token: s.ViewToken})
		if err != nil {
			t.Fatal(err)
		}
		patience := time.AfterFunc(20*time.Second, func() { c.Close(ws.CodeNormal, "the test waits for ever") })
		t.Cleanup(func() { patience.Stop(); c.Close(ws.CodeNormal, ""); c.Wait() })
		// Only the answer shows whether the connection was accepted: the dial ends before
		// that.
		_ = c.WriteBatch([][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)})
		if _, err := c.ReadMessage(); ws.CodeOf(err) != want {
			t.Errorf("connection %d: %v", n, err)
		}
	}
	if have := numbers(t, admin); have["ahp_canvas_connections"] != 1 || have["ahp_canvas_connections_max"] != 1 || have["ahp_canvas_connections_refused_total"] != 1 {
		t.Errorf("%v", have)
	}
	openSilent(t, s.Page, 3)
	awaitLimit(t, admin, "ahp_canvas_")

	tokens, relayAdmin := filepath.Join(t.TempDir(), "tokens.json"), "127.0.0.1:"+freePort(t)
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	r := m.start("relay", "--json", "--listen", "127.0.0.1:0", "--tokens", tokens, "--admin", relayAdmin, "--max-http", "2")
	var at cmdrelay.Line
	if err := json.Unmarshal([]byte(r.line), &at); err != nil {
		t.Fatal(err)
	}
	openSilent(t, at.Page, 3)
	awaitLimit(t, relayAdmin, "ahp_relay_")

	for _, wrong := range [][]string{{"serve", "--max-http", "0"}, {"serve", "--max-connections", "-1"}, {"relay", "--tokens", tokens, "--max-http", "0"}} {
		m.do(2, wrong...)
	}
}
