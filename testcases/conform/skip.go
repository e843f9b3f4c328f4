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

// The reasons for which a case is not played; each says what would change that.
const (
	reasonInterrupted = "interrupted"
	reasonOurs        = "a choice of ahp-canvas, which no document asks for: --ours plays it"
	reasonCanvas      = "the host shows no Canvas surface in its sessions"
	reasonAgent       = "no way to act as the agent: --mcp URL or --open-cmd CMD"
	reasonDemo        = "needs the demo extensions of testcases/README.md inside the host: --demo where it has them"
	reasonTokens      = "needs tokens that only a host of the tests has"
	reasonSlow        = "waits for longer than a few seconds: --slow waits"
	reasonHost        = "something happens inside the host: only one that is built for tests can do it"
	reasonGone        = "the host let no case begin any more: the failures before it say how"
	reasonWithout     = "the host does not claim it: --without"
)

// skip says why a case is not played; "" plays it.
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
	case r.unset >= goneAfter:
		return reasonGone
	case t.Level() == testcases.Ours && !r.opts.Ours:
		return reasonOurs
	case has(testcases.NeedsCanvas) && !r.host.Canvas:
		return reasonCanvas
	case has(testcases.NeedsHost) && (r.opts.Demo || !has(testcases.NeedsDemo) || titles(t)):
		return reasonHost
	case has(testcases.NeedsTokens):
		return reasonTokens
	case has(testcases.NeedsAgent) && r.opts.Agent == nil:
		return reasonAgent
	case has(testcases.NeedsDemo) && !r.opts.Demo && insideOnly(t):
		return reasonDemo
	case clock(t) > r.opts.Short && !r.opts.Slow:
		return reasonSlow
	}
	return ""
}

// clock is how long the time steps of a case take.
func clock(t *testcases.Transcript) (sum time.Duration) {
	for _, s := range t.Steps {
		sum += s.Wait
	}
	return sum
}

// hideQuery leaves what may be a token out of a URL.
func hideQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.RawQuery, u.User, u.Fragment = "", nil, ""
	return u.String()
}

// titles reports whether a case has the host itself dispatch.
func titles(t *testcases.Transcript) bool {
	return slices.ContainsFunc(t.Steps, func(s testcases.Step) bool {
		return s.Op == testcases.OpHost && strings.HasPrefix(s.Text, "title ")
	})
}

// inside are the steps that need of the demo extensions what a client that stands
// in for them cannot do: it speaks to all Views and hears none, it raises no
// events, has no validators, is in one session, and its content goes with it.
var inside = regexp.MustCompile(`^\{.*"type":"canvas/message"|"actionName":"raise"|x-ahp-canvas/etag|"session":"ahp-session:/[^n]`)

// insideOnly reports whether a case needs the demo extensions inside the host.
func insideOnly(t *testcases.Transcript) bool {
	if t.Name == "canvas/invoke-no-effect" { // about what the host does with an extension's updates
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
