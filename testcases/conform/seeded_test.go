package conform_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// Each fault is detected by the case that tests for it, for the right reason.
// With AHP_LONG=1 the table has the number of cases that detect it.
func TestSeededFaults(t *testing.T) {
	inside, outside := startHost(t, true), startHost(t, false)
	all := slices.Concat(faults, laterFaults)
	if len(all) < 45 {
		t.Errorf("%d faults", len(all))
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FAULT\tCAUGHT BY\tBECAUSE\tCASES")
	for n, f := range all {
		if testing.Short() && n%3 != 0 {
			continue // a third is enough for the race detector
		}
		h := inside
		if f.outside {
			h = outside
		}
		failed := playSpoiled(t, h, f)
		i := slices.IndexFunc(failed, func(r conform.Result) bool { return r.Case == f.caught })
		switch {
		case i < 0:
			t.Errorf("%s: %s does not notice; %d others do", f.name, f.caught, len(failed))
		case !strings.Contains(failed[i].Problem, f.because):
			t.Errorf("%s: %s fails for %q, want %q", f.name, f.caught, failed[i].Problem, f.because)
		default:
			fmt.Fprintf(w, "%s\t%s\t%.60s\t%d\n", f.name, f.caught, failed[i].Problem, len(failed))
		}
	}
	w.Flush()
	t.Logf("%d faults\n%s", len(all), table.String())
}

// playSpoiled returns the cases that fail against a host with a fault.
func playSpoiled(t *testing.T, h *ourHost, f fault) []conform.Result {
	t.Helper()
	proxy := &conform.Proxy{To: h.url, Watcher: newSpoiler(f)}
	server := httptest.NewServer(proxy)
	defer server.Close()
	defer proxy.Close()
	opts := conform.Options{
		URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/ahp", Token: agentToken, Agent: h.agent, Demo: !f.outside, Ours: true,
		Cases: allCases(t), Timeout: timeout, SlowAfter: time.Millisecond,
	}
	if os.Getenv("AHP_LONG") != "1" {
		opts.Cases = slices.DeleteFunc(opts.Cases, func(c *testcases.Transcript) bool { return c.Name != f.caught })
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	report, err := conform.Run(ctx, opts)
	if err != nil {
		t.Errorf("%s: %v", f.name, err)
		return nil
	}
	return slices.DeleteFunc(report.Results, func(r conform.Result) bool { return r.Status == conform.Passed || r.Status == conform.Skipped })
}

func allCases(t *testing.T) []*testcases.Transcript {
	t.Helper()
	all, err := testcases.Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// timeout is how long to wait for frames in tests that lose frames on purpose.
const timeout = 2 * time.Second
