package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// numbers are the metrics of an admin listener without labels, by name.
func numbers(t *testing.T, admin string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+) (\S+)$`).FindAllStringSubmatch(body(t, "http://"+admin+"/metrics"), -1) {
		all[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return all
}

// strangers opens connections that say nothing, one after the other.
func strangers(t *testing.T, at string, n int) {
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

// judge checks what the metrics say of three strangers where two may be. The last
// one is refused, or on a machine that is slow takes the place of the first.
func judge(t *testing.T, admin, prefix string) {
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

// fitting is fit, with what it logs.
func fitting(c crowding, files uint64) (fits crowding, said string, err error) {
	var log strings.Builder
	fits, err = c.fit(files, slog.New(slog.NewTextHandler(&log, nil)))
	return fits, log.String(), err
}

// Defaults give way to the limit of open files and the log says to what, and what was
// given does not.
func TestConnectionsWithinTheLimitOfFiles(t *testing.T) {
	const all, http = host.DefaultMaxConnections, web.DefaultMaxConns
	for _, tc := range []struct {
		files     uint64
		ahp, http int    // what is asked for
		given     string // which of both was given
		want      [2]int // both 0: refused
	}{
		{0, all, http, "", [2]int{all, http}},
		{math.MaxUint64, math.MaxInt, math.MaxInt, "max-connections max-http", [2]int{math.MaxInt, math.MaxInt}},
		{all + http + 512, all, http, "max-connections", [2]int{all, http}},
		{all + http + 511, all, http, "", [2]int{all - 1, http}},
		{all + http + 511, all, http, "max-connections", [2]int{}},
		{4096, all, http, "", [2]int{4096 - 512 - 512, 512}},
		{4096, all, http, "max-http", [2]int{4096 - 512 - 1024, http}},
		{4096, 3072, http, "max-connections", [2]int{3072, 512}},
		{4096, 3073, http, "max-connections", [2]int{}},
		{4096, all, 4096, "max-http", [2]int{}},
		{4096, math.MaxInt, math.MaxInt, "max-connections max-http", [2]int{}},
		{256, all, http, "", [2]int{192, 32}},
		{8, all, http, "", [2]int{6, 1}},
	} {
		asked := crowding{ahp: tc.ahp, http: tc.http, sockets: 1, given: func(flag string) bool { return slices.Contains(strings.Fields(tc.given), flag) }}
		c, said, err := fitting(asked, tc.files)
		if refused := tc.want == [2]int{}; refused != (err != nil) || !refused && [2]int{c.ahp, c.http} != tc.want {
			t.Errorf("%d files, %d and %d (given: %s): %d and %d, %v", tc.files, tc.ahp, tc.http, tc.given, c.ahp, c.http, err)
		}
		if less := err == nil && tc.want != [2]int{tc.ahp, tc.http}; less != strings.Contains(said, fmt.Sprintf("max_connections=%d max_http=%d", c.ahp, c.http)) {
			t.Errorf("%d files, %d and %d (given: %s) became %d and %d, and the log says %q", tc.files, tc.ahp, tc.http, tc.given, c.ahp, c.http, said)
		}
	}
}

// A relay has two sockets for each of its clients, and one for each of its hosts.
func TestARelayWithinTheLimitOfFiles(t *testing.T) {
	const lanes, hosts, http = relay.DefaultMaxLanes, relay.DefaultMaxHosts, web.DefaultMaxConns
	for _, tc := range []struct {
		files uint64
		http  int
		given bool
		want  [3]int // clients, hosts and http; all 0: refused
	}{
		{0, http, false, [3]int{lanes, hosts, http}},
		{2*lanes + hosts + http + 512, http, false, [3]int{lanes, hosts, http}},
		{2*lanes + hosts + http + 511, http, false, [3]int{lanes - 1, hosts, http}},
		{4096, http, false, [3]int{(4096 - 3*512) / 2, 512, 512}},
		{4096, 3070, true, [3]int{1, 512, 3070}},
		{4096, 3071, true, [3]int{}},
		{256, http, false, [3]int{80, 32, 32}},
	} {
		asked := crowding{ahp: lanes, http: tc.http, hosts: hosts, sockets: 2, given: func(flag string) bool { return tc.given && flag == "max-http" }}
		c, said, err := fitting(asked, tc.files)
		if refused := tc.want == [3]int{}; refused != (err != nil) || !refused && [3]int{c.ahp, c.hosts, c.http} != tc.want {
			t.Errorf("%d files, --max-http %d: %d clients, %d hosts, %d others, %v", tc.files, tc.http, c.ahp, c.hosts, c.http, err)
		}
		if less := err == nil && tc.want != [3]int{lanes, hosts, tc.http}; less != strings.Contains(said, fmt.Sprint("max_hosts=", c.hosts)) {
			t.Errorf("%d files: %d clients, %d hosts, %d others, and the log says %q", tc.files, c.ahp, c.hosts, c.http, said)
		}
	}
}

// A host and a relay have as many connections as their flags say.
func TestConnectionsAreBounded(t *testing.T) {
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
		// It has its place, or none, when something comes: the dial ends before that.
		_ = c.WriteBatch([][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)})
		if _, err := c.ReadMessage(); ws.CodeOf(err) != want {
			t.Errorf("connection %d: %v", n, err)
		}
	}
	if have := numbers(t, admin); have["ahp_canvas_connections"] != 1 || have["ahp_canvas_connections_max"] != 1 || have["ahp_canvas_connections_refused_total"] != 1 {
		t.Errorf("%v", have)
	}
	strangers(t, s.Page, 3)
	judge(t, admin, "ahp_canvas_")

	tokens, relayAdmin := filepath.Join(t.TempDir(), "tokens.json"), "127.0.0.1:"+freePort(t)
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	r := m.start("relay", "--json", "--listen", "127.0.0.1:0", "--tokens", tokens, "--admin", relayAdmin, "--max-http", "2")
	var at relayLine
	if err := json.Unmarshal([]byte(r.line), &at); err != nil {
		t.Fatal(err)
	}
	strangers(t, at.Page, 3)
	judge(t, relayAdmin, "ahp_relay_")

	for _, wrong := range [][]string{{"serve", "--max-http", "0"}, {"serve", "--max-connections", "-1"}, {"relay", "--tokens", tokens, "--max-http", "0"}} {
		m.do(2, wrong...)
	}
}
