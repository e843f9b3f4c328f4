package conform

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// env is the host of one case: a testcases.Env in real time.
type env struct {
	opts         *Options
	ns           namespace
	conns        []*conn
	readers      sync.WaitGroup
	ignoresPings bool // the host has not answered a ping
	stage        *setup
	standIn      *standIn // nil if the host has the demo extensions, or the case needs none

	agentMu sync.Mutex
	agents  []chan struct{} // one per call of the agent, closed when the call returns

	traceMu  sync.Mutex
	exchange []string // the last frames, for the report of a failure
}

// keptFrames is the number of frames in the report of a failure.
const keptFrames = 12

func (e *env) trace(c *conn, arrow string, frame []byte) {
	e.traceMu.Lock()
	defer e.traceMu.Unlock()
	if len(e.exchange) >= keptFrames {
		e.exchange = e.exchange[1:]
	}
	e.exchange = append(e.exchange, fmt.Sprintf("%s%s %.2000s", c.name, arrow, frame))
}

// Dial opens a connection with the token that the step names.
func (e *env) Dial(ctx context.Context, args map[string]string) (testcases.Conn, error) {
	token := e.opts.Token
	switch args["token"] {
	case "none":
		token = ""
	case "wrong":
		token = "wrong"
	}
	return e.dial(ctx, args["name"], token)
}

// Agent calls a tool as the agent. A call without a session is for the default
// session of the case.
func (e *env) Agent(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	answered := make(chan struct{})
	defer close(answered)
	e.agentMu.Lock()
	e.agents = append(e.agents, answered)
	e.agentMu.Unlock()
	value, err := e.opts.Agent.Call(ctx, tool, ahp.Value(e.ns.out(inSession(args))))
	if failure, ok := err.(*testcases.AgentError); ok {
		data, _ := e.ns.in(failure.Data)
		return nil, &testcases.AgentError{Data: data}
	}
	if err != nil {
		return nil, err
	}
	if e.standIn != nil && tool == "open_canvas" {
		e.standIn.attend(ctx, value)
	}
	back, _ := e.ns.in(value)
	return back, nil
}

func inSession(args ahp.Value) ahp.Value {
	members := map[string]ahp.Value{}
	if ahp.Unmarshal(args, &members) != nil || members["session"] != nil {
		return args
	}
	members["session"] = ahp.Value(`"ahp-session:/default"`)
	return ahp.MustMarshal(members)
}

// WaitAgent limits the wait for a call of the agent.
func (e *env) WaitAgent(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.opts.Timeout)
}

// Host performs a step inside the host, as far as clients can stand in for it.
func (e *env) Host(ctx context.Context, what string) error {
	if title, ok := strings.CutPrefix(what, titleStep); ok {
		uri, text, _ := strings.Cut(title, " ")
		return e.stage.title(ctx, uri, text)
	}
	if e.standIn != nil {
		return e.standIn.host(ctx, what)
	}
	return fmt.Errorf("cannot perform host step %q from outside the host", what)
}

// Flush waits for the calls of the agent that return within Options.Quiet, and
// then flushes every connection.
func (e *env) Flush() {
	e.agentMu.Lock()
	calls := e.agents
	e.agents = nil
	e.agentMu.Unlock()
	quiet, done := context.WithTimeout(context.Background(), e.opts.Quiet)
	defer done()
	for _, answered := range calls {
		select {
		case <-answered:
		case <-quiet.Done():
			e.agentMu.Lock()
			e.agents = append(e.agents, answered)
			e.agentMu.Unlock()
		}
	}
	// A frame can reach other connections after it was answered on its own, so one
	// round is not enough.
	for range 2 {
		for _, c := range e.conns {
			c.flush()
		}
	}
}

// Pass waits for d.
func (e *env) Pass(d time.Duration) { time.Sleep(d) }

// end closes the connections that the case left open.
func (e *env) end() {
	for _, c := range e.conns {
		_ = c.Close(false)
	}
	e.readers.Wait()
}
