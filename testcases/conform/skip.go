package conform

import (
	"cmp"
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
	reasonAgent       = "the agent has to open a canvas, which no client can; offer the tools at an MCP endpoint (--mcp URL) or by a command (--open-cmd CMD)"
	reasonTools       = "the agent needs a tool that the host's MCP endpoint does not have: "
	reasonDemo        = "needs the demo extensions of testcases/README.md inside the host; use --demo if it has them"
	reasonLater       = "the host does not speak AHP 1.0"
	reasonLaterOnly   = "the host speaks later versions only"
	reasonSessions    = "the host lets the runner create no sessions"
	reasonTokens      = "needs tokens that only a host built for tests has"
	reasonOrigin      = "the host itself has to change a session's title; only a host built for tests can be told to"
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
	case waits(t) > r.opts.SlowAfter && !r.opts.Slow:
		return cmp.Or(r.lacks(t, has), reasonSlow)
	}
	return r.lacks(t, has)
}

// lacks returns why the host or the agent cannot play a case, or "".
func (r *runner) lacks(t *testcases.Transcript, has func(word string) bool) string {
	switch {
	case r.laterOnly && (!has(testcases.NeedsLater) || offersOwn(t)):
		return reasonLaterOnly
	case r.noSessions && namesSession(t):
		return reasonSessions
	case has(testcases.NeedsCanvas) && !r.host.Canvas:
		return reasonCanvas
	case testsOwnAction(t):
		return reasonOrigin
	case has(testcases.NeedsHost) && !r.canPlayHostSteps(t):
		return reasonHost
	case has(testcases.NeedsLater) && !r.later:
		return reasonLater
	case has(testcases.NeedsTokens):
		return reasonTokens
	case has(testcases.NeedsAgent) && r.opts.Agent == nil:
		return cmp.Or(r.opts.NoAgent, reasonAgent)
	case has(testcases.NeedsAgent) && r.lacksTool(t) != "":
		return reasonTools + r.lacksTool(t)
	case has(testcases.NeedsDemo) && !r.opts.Demo && (r.laterOnly || insideOnly(t)):
		return reasonDemo
	}
	return ""
}

// own matches the handshake of a client of 0.5 or 0.6.
var own = regexp.MustCompile(`"protocolVersions"\s*:\s*\[\s*"0\.[56]\.`)

// offersOwn reports whether a client of a case speaks 0.5 or 0.6.
func offersOwn(t *testcases.Transcript) bool {
	return slices.ContainsFunc(t.Steps, func(s testcases.Step) bool { return s.Op == testcases.OpSend && own.MatchString(s.Text) })
}

// namesSession reports whether a case has a session, or the chat of one.
func namesSession(t *testcases.Transcript) bool {
	return slices.ContainsFunc(t.Steps, func(s testcases.Step) bool {
		return sessionWord.MatchString(s.Text) || legacyURI.MatchString(s.Text) || encodedURI.MatchString(s.Text)
	})
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

// testsOwnAction reports whether a case tests that the host's own actions have no
// origin, for which no client can stand in.
func testsOwnAction(t *testcases.Transcript) bool {
	return t.Name == "session/host-title" || t.Name == "reconnect/replay-host"
}

// canPlayHostSteps reports whether clients can stand in for every host step of a case:
// for the demo extensions ("gone", "back") and for the host's titles.
func (r *runner) canPlayHostSteps(t *testcases.Transcript) bool {
	for _, s := range t.Steps {
		if s.Op == testcases.OpHost && !strings.HasPrefix(s.Text, titleStep) && (r.opts.Demo || !slices.Contains(t.Needs(), testcases.NeedsDemo)) {
			return false
		}
	}
	return true
}

// lacksTool returns a tool that the case calls and the agent does not have, or "". An
// agent that does not list its tools is assumed to have all.
func (r *runner) lacksTool(t *testcases.Transcript) string {
	lister, ok := r.opts.Agent.(Toolbox)
	if !ok {
		return ""
	}
	for _, tool := range Tools(t) {
		if !slices.Contains(lister.Tools(), tool) {
			return tool
		}
	}
	return ""
}

// Tools returns the tools that the agent calls in a case, in order and each once.
func Tools(t *testcases.Transcript) (tools []string) {
	for _, s := range t.Steps {
		if tool, _, _ := strings.Cut(s.Text, " "); s.Op == testcases.OpAgentCall && !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	return tools
}

// inside matches steps that need what a client standing in for the demo
// extensions cannot do: raise events, have validators, belong to several sessions, or
// serve content while it is disconnected.
var inside = regexp.MustCompile(`"actionName":"raise"|x-ahp-canvas/etag|"session":"ahp-session:/[^n]`)

// toOneView is part of the demo canvas's answer to a single View, which no client can
// give.
const toOneView = `"echoed"`

// insideOnly reports whether only extensions inside the host can play the case.
func insideOnly(t *testcases.Transcript) bool {
	if t.Name == "canvas/invoke-no-effect" { // tests how the host treats an extension's updates
		return true
	}
	gone := false
	for _, s := range t.Steps {
		gone = gone || s.Op == testcases.OpHost
		switch s.Op {
		case testcases.OpExpect:
			if strings.Contains(s.Text, toOneView) {
				return true
			}
		case testcases.OpSend, testcases.OpAgentCall:
			if inside.MatchString(s.Text) || gone && strings.Contains(s.Text, `"canvasReadResource"`) {
				return true
			}
		}
	}
	return false
}
