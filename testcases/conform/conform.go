package conform

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// Agent is a door of the host where a case acts as the agent. A tool that fails
// returns a *testcases.AgentError with its structured failure. Call ends with its
// context, at the latest when the case does.
type Agent interface {
	Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error)
}

// Options say which host is tested, and how far. URL alone is required.
type Options struct {
	URL   string // ws or wss
	Token string // of the connections; "" where the host wants none
	Agent Agent  // nil skips the cases that need one
	// Demo says that the host has the extensions "demo" and "other" that
	// testcases/README.md describes.
	Demo bool
	// Ours plays the cases of level OURS too: choices of ahp-canvas where the
	// documents leave one.
	Ours bool
	// Strict counts a rule that SHOULD hold and does not as failed.
	Strict bool
	// Slow plays the cases whose time steps sum up to more than Short.
	Slow bool
	// Without are words of a case's needs line that this host does not claim.
	Without []string
	// Only are parts of names; a case is played when its name holds one of them.
	Only []string

	Cases    []*testcases.Transcript // nil: all of package testcases
	Patience time.Duration           // how long an expected frame is waited for (5 s)
	Quiet    time.Duration           // how long a host that is silent is believed (100 ms)
	Short    time.Duration           // what a case may wait without Slow (5 s)
	// Done is told of each case as it ends, from Run's goroutine.
	Done func(Result)
}

func (o Options) withDefaults() (Options, error) {
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	o.Quiet = cmp.Or(o.Quiet, 100*time.Millisecond)
	o.Short = cmp.Or(o.Short, 5*time.Second)
	if o.Done == nil {
		o.Done = func(Result) {}
	}
	if o.Cases != nil {
		return o, nil
	}
	all, err := testcases.Transcripts()
	o.Cases = all
	return o, err
}

// Run plays the cases one after the other and reports each. The error is that
// nothing could be played at all: the host cannot be reached, or speaks no AHP.
// When ctx ends, what was not played is skipped.
func Run(ctx context.Context, opts Options) (*Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{opts: opts, prefix: "x" + strings.ToLower(rand.Text()[:5])}
	began := time.Now()
	if err := r.probe(ctx); err != nil {
		return nil, err
	}
	report := &Report{Host: r.host}
	for _, t := range opts.Cases {
		if !r.wanted(t) {
			continue
		}
		result := r.play(ctx, t)
		report.Results = append(report.Results, result)
		opts.Done(result)
	}
	report.Took = time.Since(began)
	return report, nil
}

type runner struct {
	opts   Options
	prefix string // of all namespaces of this run
	host   Host
	played int
	// unset is how many cases in a row could not begin, for want of a session.
	unset int
}

// goneAfter is how many such cases say that the others will not begin either: each
// takes a while to find out.
const goneAfter = 3

func (r *runner) wanted(t *testcases.Transcript) bool {
	for _, part := range r.opts.Only {
		if strings.Contains(t.Name, part) {
			return true
		}
	}
	return len(r.opts.Only) == 0
}

// play runs one case in a namespace of its own.
func (r *runner) play(ctx context.Context, t *testcases.Transcript) (result Result) {
	result = newResult(t)
	if result.Reason = r.skip(ctx, t); result.Reason != "" {
		result.Status = Skipped
		return result
	}
	r.played++
	e := &env{opts: &r.opts, names: r.names(t)}
	defer func(began time.Time) { result.Took = time.Since(began) }(time.Now())
	stage := &stage{env: e, provider: r.host.Provider}
	err := stage.set(ctx, t)
	if r.unset++; err == nil {
		r.unset = 0
	}
	if err == nil && e.names.standIn {
		e.standIn, err = newStandIn(ctx, e)
	}
	if err == nil {
		err = t.Run(ctx, e)
	}
	e.end()
	if e.standIn != nil {
		e.standIn.leave()
	}
	stage.clear(ctx)
	if ctx.Err() != nil {
		result.Status, result.Reason = Skipped, reasonInterrupted
		return result
	}
	result.fail(err, e)
	return result
}

// names is the namespace of a case. Cases about versions say what they offer.
func (r *runner) names(t *testcases.Transcript) names {
	n := names{prefix: fmt.Sprintf("%s%d-", r.prefix, r.played)}
	if r.host.Version != ahp.V0_6_0.String() && !strings.HasPrefix(t.Name, "handshake/version") {
		n.version = r.host.Version
	}
	if r.host.Provider != "canvas" {
		n.agent = r.host.Provider
	}
	n.standIn = !r.opts.Demo && slices.Contains(t.Needs(), testcases.NeedsDemo)
	return n
}

// fail writes down how a case went.
func (res *Result) fail(err error, e *env) {
	if err == nil {
		res.Status = Passed
		return
	}
	res.Status = Failed
	if res.Level == testcases.Should && !e.opts.Strict {
		res.Status = Deviates
	}
	res.Problem = err.Error()
	res.Exchange = e.exchange
	if step, ok := errors.AsType[*testcases.StepError](err); ok {
		res.Line = step.Step.Line
		res.Problem = step.Err.Error()
		res.Want, res.Have = wanted(step.Step), string(step.Have)
	}
}

// wanted is what a step wants, as a text; "" is nothing.
func wanted(s testcases.Step) string {
	switch s.Op {
	case testcases.OpExpect, testcases.OpAgentValue, testcases.OpAgentError:
		return s.Text
	case testcases.OpClosed, testcases.OpFlooded:
		return "the connection closed with " + s.Text
	}
	return ""
}
