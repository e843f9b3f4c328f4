package conform_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// playLater plays the cases for later hosts against a host that is changed by a fault.
func playLater(t *testing.T, h *ourHost, f fault, opts conform.Options) *conform.Report {
	t.Helper()
	proxy := &conform.Proxy{To: h.url, Watcher: newSpoiler(f)}
	server := httptest.NewServer(proxy)
	defer server.Close()
	defer proxy.Close()
	opts.URL = "ws" + strings.TrimPrefix(server.URL, "http") + "/ahp"
	report, err := conform.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// laterOnly makes a host one that refuses clients of 0.5 and 0.6.
func laterOnly(versions []any) []any {
	for _, v := range versions {
		if s, _ := v.(string); !strings.HasPrefix(s, "0.5.") && !strings.HasPrefix(s, "0.6.") {
			return versions
		}
	}
	return []any{"0.8.0"}
}

// TestLaterOnly: a host that speaks later versions only is tested by the cases that are
// about these alone. The others are skipped for that reason.
func TestLaterOnly(t *testing.T) {
	opts := settings(startHost(t, true))
	opts.Demo = true
	report := playLater(t, &ourHost{url: opts.URL}, fault{toHost: onOffer(laterOnly)}, opts)
	if report.Host.Version != "1.0.0" {
		t.Errorf("the host is %+v", report.Host)
	}
	for _, name := range []string{"version", "version-malformed", "version-refused", "states", "spelling", "turn", "card", "editor", "artifacts", "refused", "without-canvases"} {
		if r := resultOf(t, report, "later/"+name); r.Status != conform.Passed {
			t.Errorf("%s: %s %s %s", r.Case, r.Status, r.Reason, r.Problem)
		}
	}
	for _, r := range report.Results {
		if r.Status == conform.Failed || !strings.HasPrefix(r.Case, "later/") && r.Reason != "the host speaks later versions only" {
			t.Errorf("%s: %s %s %s", r.Case, r.Status, r.Reason, r.Problem)
		}
	}
	for _, name := range []string{"life", "client-provider"} { // with a client of 0.6
		if r := resultOf(t, report, "later/"+name); r.Reason != "the host speaks later versions only" {
			t.Errorf("%s: %s %s", r.Case, r.Status, r.Reason)
		}
	}
}

// TestLaterWithoutSessions: how a host negotiates is tested even if it creates no session.
func TestLaterWithoutSessions(t *testing.T) {
	opts := settings(startHost(t, true))
	f := fault{toHost: onOffer(laterOnly), toClient: onAnswer("createSession", func(x exchange) {
		delete(x.frame, "result")
		x.frame["error"] = object{"code": -32007, "message": "sign in first"}
	})}
	report := playLater(t, &ourHost{url: opts.URL}, f, opts)
	for _, name := range []string{"version", "version-malformed", "version-refused"} {
		if r := resultOf(t, report, "later/"+name); r.Status != conform.Passed {
			t.Errorf("%s: %s %s %s", r.Case, r.Status, r.Reason, r.Problem)
		}
	}
	if r := resultOf(t, report, "later/editor"); r.Status != conform.Skipped || r.Reason != "the host lets the runner create no sessions" {
		t.Errorf("%s: %s %s", r.Case, r.Status, r.Reason)
	}
}

func resultOf(t *testing.T, report *conform.Report, name string) conform.Result {
	t.Helper()
	i := slices.IndexFunc(report.Results, func(r conform.Result) bool { return r.Case == name })
	if i < 0 {
		t.Fatalf("no result of %s", name)
	}
	return report.Results[i]
}

// TestLaterFaults: there is a fault for each case of the folder, so that none of them passes
// whatever the host does.
func TestLaterFaults(t *testing.T) {
	for _, c := range allCases(t) {
		if slices.Contains(c.Needs(), testcases.NeedsLater) && !slices.ContainsFunc(laterFaults, func(f fault) bool { return f.caught == c.Name }) {
			t.Errorf("no fault for %s", c.Name)
		}
	}
}
