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

// Agent is an endpoint of the host at which a case acts as the agent.
type Agent interface {
	// Call runs a tool. If the tool fails, the error is a *testcases.AgentError
	// with its structured failure. Call must return once ctx is canceled, which
	// happens at the end of the case.
	Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error)
}

// Toolbox is implemented by an [Agent] that knows which tools it can call. Cases that
// need another tool are skipped.
type Toolbox interface {
	// Tools returns the names of the tools.
	Tools() []string
}

// Options configures a [Run]. Only URL is required.
type Options struct {
	// URL is the host's AHP endpoint: ws or wss.
	URL string
	// Token is presented by every connection; "" if the host needs none.
	Token string
	// Agent acts as the agent. If it is nil, cases that need one are skipped.
	Agent Agent
	// NoAgent is the reason for skipping them, if there is more to say than that Agent is
	// nil.
	NoAgent string
	// Demo declares that the host has the extensions "demo" and "other" that
	// testcases/README.md describes.
	Demo bool
	// Ours also plays the cases of level OURS, which test choices of ahp-canvas
	// that the protocol leaves open.
	Ours bool
	// Strict reports a violated SHOULD as a failure.
	Strict bool
	// Slow also plays the cases that wait longer than SlowAfter.
	Slow bool
	// Without names features, as words of a case's needs line, that the host does
	// not claim. Cases that need them are skipped.
	Without []string
	// Only selects the cases whose names contain one of these texts; empty selects
	// all.
	Only []string

	// Cases are the cases to play; nil plays all of package testcases.
	Cases []*testcases.Transcript
	// Timeout is how long to wait for an expected frame (5 s).
	Timeout time.Duration
	// Quiet is how long a host that does not answer pings must be silent before
	// the runner concludes that no frame will come (100 ms).
	Quiet time.Duration
	// SlowAfter is the longest sum of a case's time steps that is played without
	// Slow (5 s).
	SlowAfter time.Duration
	// Done is called with each result as a case ends, from Run's goroutine. It may
	// be nil.
	Done func(Result)
}

func (o Options) withDefaults() (Options, error) {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.Quiet = cmp.Or(o.Quiet, 100*time.Millisecond)
	o.SlowAfter = cmp.Or(o.SlowAfter, 5*time.Second)
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

// Run plays the cases one after the other and reports their results. It returns an
// error only if no case can be played, because the host cannot be reached or does
// not speak AHP. When ctx is canceled, the remaining cases are skipped.
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
		if !r.selected(t) {
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
	later      bool // the host speaks later versions
	laterOnly  bool // and no other
	noSessions bool // the host refuses createSession
	opts       Options
	prefix     string // begins the prefix of every namespace of this run
	host       Host
	played     int
	// failedSetups is how many cases in a row had no session to be played in.
	failedSetups int
}

// maxFailedSetups is the number of failed setups in a row after which the other
// cases are skipped: each would take as long to fail.
const maxFailedSetups = 3

func (r *runner) selected(t *testcases.Transcript) bool {
	for _, part := range r.opts.Only {
		if strings.Contains(t.Name, part) {
			return true
		}
	}
	return len(r.opts.Only) == 0
}

// play runs one case in its own namespace.
func (r *runner) play(ctx context.Context, t *testcases.Transcript) (result Result) {
	result = newResult(t)
	if result.Reason = r.skip(ctx, t); result.Reason != "" {
		result.Status = Skipped
		return result
	}
	r.played++
	e := &env{opts: &r.opts, ns: r.namespace(t)}
	defer func(began time.Time) { result.Took = time.Since(began) }(time.Now())
	prep := &setup{env: e, provider: r.host.Provider, version: ahp.V0_6_0.String()}
	if r.laterOnly {
		prep.version = r.host.Version
	}
	var err error
	if !r.noSessions {
		err = prep.create(ctx, t)
	}
	if r.failedSetups++; err == nil {
		r.failedSetups = 0
	}
	if err == nil && e.ns.standIn {
		e.standIn, err = newStandIn(ctx, e)
	}
	e.stage = prep
	if err == nil {
		err = t.Run(ctx, e)
	}
	e.end()
	if e.standIn != nil {
		e.standIn.leave()
	}
	prep.dispose(ctx)
	if ctx.Err() != nil {
		result.Status, result.Reason = Skipped, reasonInterrupted
		return result
	}
	result.fail(err, e)
	return result
}

// namespace returns the namespace of the next case. It offers the host's version in
// every handshake, except in the cases that test which versions are offered.
func (r *runner) namespace(t *testcases.Transcript) namespace {
	n := namespace{prefix: fmt.Sprintf("%s%d-", r.prefix, r.played)}
	if r.host.Version != ahp.V0_6_0.String() && !r.laterOnly && !strings.HasPrefix(t.Name, "handshake/version") {
		n.version = r.host.Version
	}
	if r.host.Provider != "canvas" {
		n.agent = r.host.Provider
	}
	n.hand = slices.ContainsFunc(t.Steps, isTitleStep)
	n.standIn = !r.opts.Demo && slices.Contains(t.Needs(), testcases.NeedsDemo)
	return n
}

// fail sets the status and the details of a case that ended with err.
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
		res.Want, res.Have = expectation(step.Step), string(step.Have)
	}
	res.redact()
}

// expectation describes what a step expects, or returns "" if it expects nothing.
func expectation(s testcases.Step) string {
	switch s.Op {
	case testcases.OpExpect, testcases.OpAgentValue, testcases.OpAgentError:
		return s.Text
	case testcases.OpClosed, testcases.OpFlooded:
		return "the connection closed with " + s.Text
	}
	return ""
}
