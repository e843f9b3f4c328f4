package conform

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// The reasons for skipping a case. Each names the flag, if there is one, that
// plays it.
const (
	reasonInterrupted = "interrupted"
	reasonOurs        = "tests a choice of ahp-canvas that the protocol leaves open; use --ours to play it"
	reasonCanvas      = "the host's sessions have no Canvas surface"
	reasonAgent       = "needs to act as the agent; use --mcp URL or --open-cmd CMD"
	reasonDemo        = "needs the demo extensions of testcases/README.md inside the host; use --demo if it has them"
	reasonTokens      = "needs tokens that only a host built for tests has"
	reasonSlow        = "waits for more than a few seconds; use --slow to play it"
	reasonHost        = "needs an event inside the host that only a host built for tests can cause"
	reasonUnreachable = "the host no longer lets cases create sessions; see the failures before it"
	reasonWithout     = "the host does not claim it: --without"
)

// skip returns why a case is skipped, or "" to play it.
func (r *runner) skip(ctx context.Context, t *testcases.Transcript) string {
	needs := t.Needs()
	has := func(word string) bool { return slices.Contains(needs, word) }
	for _, word := range needs {
		if slices.Contains(r.opts.Without, word) {
			return reasonWithout + " " + word
		}
	}
	switch {
	case ctx.Err() != nil:
		return reasonInterrupted
	case r.failedSetups >= maxFailedSetups:
		return reasonUnreachable
	case t.Level() == testcases.Ours && !r.opts.Ours:
		return reasonOurs
	case has(testcases.NeedsCanvas) && !r.host.Canvas:
		return reasonCanvas
	case has(testcases.NeedsHost) && (r.opts.Demo || !has(testcases.NeedsDemo) || dispatchesTitle(t)):
		return reasonHost
	case has(testcases.NeedsTokens):
		return reasonTokens
	case has(testcases.NeedsAgent) && r.opts.Agent == nil:
		return reasonAgent
	case has(testcases.NeedsDemo) && !r.opts.Demo && insideOnly(t):
		return reasonDemo
	case waits(t) > r.opts.SlowAfter && !r.opts.Slow:
		return reasonSlow
	}
	return ""
}

// waits returns the sum of a case's time steps.
func waits(t *testcases.Transcript) (sum time.Duration) {
	for _, s := range t.Steps {
		sum += s.Wait
	}
	return sum
}

// hideQuery removes everything from a URL that might be a token.
func hideQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.RawQuery, u.User, u.Fragment = "", nil, ""
	return u.String()
}

// dispatchesTitle reports whether a step of the case makes the host itself
// dispatch.
func dispatchesTitle(t *testcases.Transcript) bool {
	return slices.ContainsFunc(t.Steps, func(s testcases.Step) bool {
		return s.Op == testcases.OpHost && strings.HasPrefix(s.Text, "title ")
	})
}

// inside matches steps that need what a client standing in for the demo
// extensions cannot do: exchange messages with a single View, raise events,
// have validators, belong to several sessions, or serve content while it is
// disconnected.
var inside = regexp.MustCompile(`^\{.*"type":"canvas/message"|"actionName":"raise"|x-ahp-canvas/etag|"session":"ahp-session:/[^n]`)

// insideOnly reports whether only extensions inside the host can play the case.
func insideOnly(t *testcases.Transcript) bool {
	if t.Name == "canvas/invoke-no-effect" { // tests how the host treats an extension's updates
		return true
	}
	gone := false
	for _, s := range t.Steps {
		gone = gone || s.Op == testcases.OpHost
		switch s.Op {
		case testcases.OpSend, testcases.OpAgentCall:
			if inside.MatchString(s.Text) || gone && strings.Contains(s.Text, `"canvasReadResource"`) {
				return true
			}
		}
	}
	return false
}
