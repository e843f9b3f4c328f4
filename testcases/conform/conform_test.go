package conform_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// raceDetector reports whether the tests run under the race detector.
var raceDetector bool

// settings are the options of the tests. Cases that wait are played only with
// AHP_LONG=1.
func settings(h *ourHost) conform.Options {
	opts := conform.Options{URL: h.url, Token: agentToken, Agent: h.agent, Ours: true, Timeout: 20 * time.Second, Quiet: 40 * time.Millisecond, SlowAfter: time.Second}
	if os.Getenv("AHP_LONG") == "1" {
		opts.SlowAfter = 5 * time.Second
	}
	return opts
}

// mustPass plays cases and logs the counts. At least so many must pass and none
// may fail.
func mustPass(t *testing.T, opts conform.Options, atLeast int) {
	t.Helper()
	report, err := conform.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v in %v: %+v", report.Host, report.Took, report.Count())
	for _, r := range report.Skipped() {
		t.Logf("skipped %3d: %s", r.Cases, r.Text)
	}
	for _, r := range report.Results {
		if r.Status == conform.Failed || r.Status == conform.Deviates {
			t.Errorf("%s:%d: %s %s\n%s\n want %.300s\n got %.300s", r.Case, r.Line, r.Level, r.Status, r.Problem, r.Want, r.Have)
		}
		if r.Status == conform.Skipped && r.Reason == "" {
			t.Errorf("%s: skipped for no reason", r.Case)
		}
	}
	if report.Count().Passed < atLeast {
		t.Errorf("%d passed, want at least %d", report.Count().Passed, atLeast)
	}
}

// All cases pass against this project's host, except those that need an event
// inside the host, or time.
func TestOurHost(t *testing.T) {
	opts := settings(startHost(t, true))
	opts.Demo = true
	atLeast := 290
	opts.Cases = slices.DeleteFunc(allCases(t), func(c *testcases.Transcript) bool { return raceDetector && c.Name == "limits/flood" })
	if testing.Short() { // a third is enough for the race detector; package host plays all
		var part []*testcases.Transcript
		for i := 0; i < len(opts.Cases); i += 3 {
			part = append(part, opts.Cases[i])
		}
		opts.Cases, atLeast = part, atLeast/4
	}
	mustPass(t, opts, atLeast)
}

// Without the demo extensions, clients stand in for them.
func TestStandIn(t *testing.T) {
	if testing.Short() {
		t.Skip("package host plays these cases")
	}
	opts := settings(startHost(t, false))
	opts.Cases = slices.DeleteFunc(allCases(t), func(c *testcases.Transcript) bool { return !slices.Contains(c.Needs(), testcases.NeedsDemo) })
	mustPass(t, opts, 90)
}

// Cases are skipped for want of an agent or of what the host does not claim.
func TestSkips(t *testing.T) {
	h := startHost(t, false)
	for _, tt := range []struct {
		opts   conform.Options
		only   string
		status conform.Status
	}{
		{conform.Options{}, "canvas/close", conform.Skipped},
		{conform.Options{}, "dispatch/identity", conform.Passed},
		{conform.Options{Without: []string{"canvas"}}, "provider/fold-bad", conform.Skipped},
		{conform.Options{}, "dispatch/not-subscribed", conform.Skipped}, // OURS
		{conform.Options{Ours: true}, "dispatch/not-subscribed", conform.Passed},
		{conform.Options{Ours: true}, "reconnect/forgotten", conform.Skipped},
	} {
		tt.opts.URL, tt.opts.Token, tt.opts.Only = h.url, agentToken, []string{tt.only}
		report, err := conform.Run(t.Context(), tt.opts)
		if err != nil || len(report.Results) == 0 {
			t.Fatalf("%s: %v", tt.only, err)
		}
		if r := report.Results[0]; r.Status != tt.status || (r.Reason != "") != (r.Status == conform.Skipped) {
			t.Errorf("%s: %+v, want %s", tt.only, r, tt.status)
		}
	}
}

// fewTools is an agent that can only open canvases.
type fewTools struct{ conform.Agent }

func (fewTools) Tools() []string { return []string{"open_canvas"} }

// TestReasons checks that a skipped case says what it needs: the agent, with what the
// caller knows about it, a tool that the agent does not have, or the host itself.
func TestReasons(t *testing.T) {
	h := startHost(t, false)
	for _, tt := range []struct {
		name, only, want string
		opts             conform.Options
	}{
		{"no agent", "canvas/close-one", "--open-cmd CMD", conform.Options{}},
		{"why there is none", "canvas/close-one", "nothing at /mcp", conform.Options{NoAgent: "nothing at /mcp"}},
		{"a tool", "canvas/close-one", "MCP endpoint does not have: close_canvas", conform.Options{Agent: fewTools{h.agent}}},
		{"the host's own action", "session/host-title", "the host itself", conform.Options{Agent: h.agent}},
		{"an answer to one View", "canvas/message-opaque", "--demo", conform.Options{Agent: h.agent}},
	} {
		tt.opts.URL, tt.opts.Token, tt.opts.Only = h.url, agentToken, []string{tt.only}
		report, err := conform.Run(t.Context(), tt.opts)
		if err != nil || len(report.Results) != 1 {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if r := report.Results[0]; !strings.Contains(r.Reason, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, r.Reason, tt.want)
		}
	}
	// A client changes a title in the host's place, and View messages reach the stand-in.
	for _, only := range []string{"reconnect/no-capability", "canvas/message-malformed", "limits/message"} {
		opts := conform.Options{URL: h.url, Token: agentToken, Agent: h.agent, Only: []string{only}}
		report, err := conform.Run(t.Context(), opts)
		if c := report.Count(); err != nil || c.Passed == 0 || c.Passed != c.Cases {
			t.Errorf("%s: %v, %+v", only, err, report)
		}
	}
}

// A canceled run skips the remaining cases and leaves no goroutines.
func TestInterrupted(t *testing.T) {
	opts := settings(startHost(t, false))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts.Done = func(conform.Result) { cancel() }
	report, err := conform.Run(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	if c := report.Count(); c.Failed > 0 || c.Passed > 1 || c.Cases < 300 {
		t.Errorf("%+v", c)
	}
}
