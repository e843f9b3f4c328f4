package listener

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// fitLogged calls fit and returns what it logs.
func fitLogged(l Limits, files uint64) (fits Limits, said string, err error) {
	var log strings.Builder
	fits, err = l.fit(files, slog.New(slog.NewTextHandler(&log, nil)))
	return fits, log.String(), err
}

// TestConnectionsWithinTheLimitOfFiles checks that defaults are lowered to fit the limit
// of open files, which is logged, and that given numbers are not.
func TestConnectionsWithinTheLimitOfFiles(t *testing.T) {
	const all, http = host.DefaultMaxConnections, web.DefaultMaxConns
	for _, tc := range []struct {
		files     uint64
		ahp, http int    // the limits before
		given     string // the flags that were given
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
		{64, all, http, "", [2]int{24, 8}},
		{37, all, http, "", [2]int{1, 4}},
		{36, all, http, "", [2]int{}},
	} {
		asked := Limits{AHP: tc.ahp, HTTP: tc.http, Sockets: 1, Given: func(flag string) bool { return slices.Contains(strings.Fields(tc.given), flag) }}
		c, said, err := fitLogged(asked, tc.files)
		if refused := tc.want == [2]int{}; refused != (err != nil) || !refused && [2]int{c.AHP, c.HTTP} != tc.want {
			t.Errorf("%d files, %d and %d (given: %s): %d and %d, %v", tc.files, tc.ahp, tc.http, tc.given, c.AHP, c.HTTP, err)
		}
		if less := err == nil && tc.want != [2]int{tc.ahp, tc.http}; less != strings.Contains(said, fmt.Sprintf("max_connections=%d max_http=%d", c.AHP, c.HTTP)) {
			t.Errorf("%d files, %d and %d (given: %s) became %d and %d, and the log says %q", tc.files, tc.ahp, tc.http, tc.given, c.AHP, c.HTTP, said)
		}
	}
}

// TestARelayWithinTheLimitOfFiles checks the same for a relay, where a client takes two
// sockets and a host one.
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
		asked := Limits{AHP: lanes, HTTP: tc.http, Hosts: hosts, Sockets: 2, Given: func(flag string) bool { return tc.given && flag == "max-http" }}
		c, said, err := fitLogged(asked, tc.files)
		if refused := tc.want == [3]int{}; refused != (err != nil) || !refused && [3]int{c.AHP, c.Hosts, c.HTTP} != tc.want {
			t.Errorf("%d files, --max-http %d: %d clients, %d hosts, %d others, %v", tc.files, tc.http, c.AHP, c.Hosts, c.HTTP, err)
		}
		if less := err == nil && tc.want != [3]int{lanes, hosts, tc.http}; less != strings.Contains(said, fmt.Sprint("max_hosts=", c.Hosts)) {
			t.Errorf("%d files: %d clients, %d hosts, %d others, and the log says %q", tc.files, c.AHP, c.Hosts, c.HTTP, said)
		}
	}
}
