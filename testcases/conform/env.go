package conform

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// env is the host as one case sees it: a testcases.Env in real time.
type env struct {
	opts    *Options
	names   names
	conns   []*conn
	readers sync.WaitGroup
	deaf    bool     // the host left a ping without an answer
	standIn *standIn // nil where the host has the demo extensions, or the case needs none

	agentMu sync.Mutex
	agents  []chan struct{} // closed when the call is answered

	traceMu  sync.Mutex
	exchange []string // the last frames, for a person who looks for the reason
}

// keptFrames is how much of an exchange a failure tells.
const keptFrames = 12

func (e *env) trace(c *conn, arrow string, frame []byte) {
	e.traceMu.Lock()
	defer e.traceMu.Unlock()
	if len(e.exchange) >= keptFrames {
		e.exchange = e.exchange[1:]
	}
	e.exchange = append(e.exchange, fmt.Sprintf("%s%s %.2000s", c.name, arrow, frame))
}

// Dial implements testcases.Env.
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

// Agent implements testcases.Env. A call that names no session means the case's
// own default session.
func (e *env) Agent(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	answered := make(chan struct{})
	defer close(answered)
	e.agentMu.Lock()
	e.agents = append(e.agents, answered)
	e.agentMu.Unlock()
	value, err := e.opts.Agent.Call(ctx, tool, ahp.Value(e.names.out(inSession(args))))
	if failure, ok := err.(*testcases.AgentError); ok {
		data, _ := e.names.in(failure.Data)
		return nil, &testcases.AgentError{Data: data}
	}
	if err != nil {
		return nil, err
	}
	back, _ := e.names.in(value)
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

// WaitAgent implements testcases.Waiter.
func (e *env) WaitAgent(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.opts.Patience)
}

// Host implements testcases.Env for what can be done from outside.
func (e *env) Host(ctx context.Context, what string) error {
	if e.standIn != nil {
		return e.standIn.host(ctx, what)
	}
	return fmt.Errorf("nobody outside of a host can make it %q", what)
}

// Settle implements testcases.Env. A call of the agent that takes no time is
// waited for, and then each connection, the one that acted last among them.
func (e *env) Settle() {
	e.agentMu.Lock()
	calls := e.agents
	e.agents = nil
	e.agentMu.Unlock()
	patience, done := context.WithTimeout(context.Background(), e.opts.Quiet)
	defer done()
	for _, answered := range calls {
		select {
		case <-answered:
		case <-patience.Done():
			e.agentMu.Lock()
			e.agents = append(e.agents, answered)
			e.agentMu.Unlock()
		}
	}
	// What one connection sent shows on others only after it was answered there:
	// two rounds.
	for range 2 {
		for _, c := range e.conns {
			c.settle()
		}
	}
}

// Pass implements testcases.Env.
func (e *env) Pass(d time.Duration) { time.Sleep(d) }

// end closes what the case left open.
func (e *env) end() {
	for _, c := range e.conns {
		_ = c.Close(false)
	}
	e.readers.Wait()
}
