package testcases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Run plays a transcript against a host and returns the first step that did not
// go as written. At the end no connection may hold a frame that the transcript
// does not have. A call of the agent that is under way then is ended.
func (t *Transcript) Run(ctx context.Context, env Env) error {
	r := &run{env: env, bound: Bindings{}, conns: map[string]Conn{}, seen: map[string]int64{}}
	ctx, cancel := context.WithCancel(ctx)
	defer r.calls.Wait()
	defer cancel()
	for _, s := range t.Steps {
		if err := r.step(ctx, s); err != nil {
			return &StepError{Name: t.Name, Step: s, Have: r.have, Err: err}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.conns)) {
		if err := r.silent(r.conns[name]); err != nil {
			end := fmt.Errorf("at the end, on %s: %w", name, err)
			return &StepError{Name: t.Name, Step: Step{Op: OpSilence, Conn: name}, Have: r.have, Err: end}
		}
	}
	return nil
}

// StepError is the step at which a host did not do what a transcript says.
type StepError struct {
	Name string // of the transcript
	Step Step   // its Line is 0 at the end of the transcript
	// Have is what came in place of what Step wants; nil where nothing came.
	Have ahp.Value
	Err  error
}

func (e *StepError) Error() string {
	if e.Step.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Step.Line, e.Err)
}

func (e *StepError) Unwrap() error { return e.Err }

// actor names who does something in a step; a step that only looks has none.
func (s Step) actor() string {
	switch s.Op {
	case OpExpect, OpSilence, OpClosed, OpFlooded, OpAgentValue, OpAgentError:
		return ""
	case OpSend:
		return "connection " + s.Conn
	}
	return fmt.Sprintf("step %d", s.Line)
}

type run struct {
	env   Env
	bound Bindings
	conns map[string]Conn
	seen  map[string]int64 // newest serverSeq, by connection
	actor string           // of the last step that had one
	agent chan agentAnswer // of the call under way
	calls sync.WaitGroup   // of the agent
	have  ahp.Value        // what the step at hand got
}

type agentAnswer struct {
	value ahp.Value
	err   error
}

func (r *run) step(ctx context.Context, s Step) error {
	r.have = nil
	r.turn(s.actor())
	switch s.Op {
	case OpClock:
		r.env.Pass(s.Wait)
		return nil
	case OpHost:
		return r.env.Host(ctx, s.Text)
	case OpAgentCall:
		return r.callAgent(ctx, s.Text)
	case OpAgentValue, OpAgentError:
		return r.agentAnswered(ctx, s)
	case OpOpen:
		return r.open(ctx, s)
	}
	c, err := r.conn(ctx, s.Conn)
	if err != nil {
		return err
	}
	return r.on(c, s)
}

// turn gives somebody the turn, "" nobody. What one connection sends in a row is
// pipelined; whoever else acts comes after it.
func (r *run) turn(actor string) {
	if actor == "" {
		return
	}
	if actor != r.actor {
		r.env.Settle()
	}
	r.actor = actor
}

// on does what a step wants of a connection.
func (r *run) on(c Conn, s Step) error {
	switch s.Op {
	case OpSend:
		frame, err := r.bound.Expand(s.Text)
		if err != nil {
			return err
		}
		return send(c, []byte(frame), max(s.Times, 1))
	case OpExpect:
		return r.expect(c, s)
	case OpSilence:
		return r.silent(c)
	case OpClosed, OpFlooded:
		delete(r.conns, s.Conn)
		return r.closed(c, s)
	default:
		delete(r.conns, s.Conn)
		return c.Close(s.Op == OpCut)
	}
}

func send(c Conn, frame []byte, times int) error {
	if r, ok := c.(Repeater); ok {
		return r.SendTimes(frame, times)
	}
	for range times {
		if err := c.Send(frame); err != nil {
			return err
		}
	}
	return nil
}

// conn returns a connection; "a" is dialled when it is first named.
func (r *run) conn(ctx context.Context, name string) (Conn, error) {
	if c := r.conns[name]; c != nil {
		return c, nil
	}
	if name != "a" {
		return nil, fmt.Errorf("connection %s is not open", name)
	}
	err := r.open(ctx, Step{Conn: name})
	return r.conns[name], err
}

func (r *run) open(ctx context.Context, s Step) error {
	args := map[string]string{"name": s.Conn}
	for word := range strings.FieldsSeq(s.Text) {
		key, value, _ := strings.Cut(word, "=")
		args[key] = value
	}
	c, err := r.env.Dial(ctx, args)
	if err != nil {
		return err
	}
	r.conns[s.Conn] = c
	delete(r.seen, s.Conn)
	return nil
}

func (r *run) expect(c Conn, s Step) error {
	frame, err := c.Next()
	if err != nil {
		return fmt.Errorf("want %s: %w", s.Text, err)
	}
	r.have = frame
	if err := r.rising(s.Conn, ahp.Value(frame)); err != nil {
		return err
	}
	return r.bound.Match(ahp.Value(s.Text), ahp.Value(frame))
}

// rising checks what no expectation can say: serverSeq rises on a connection.
func (r *run) rising(conn string, frame ahp.Value) error {
	var action struct {
		Method string `json:"method"`
		Params struct {
			ServerSeq int64 `json:"serverSeq"`
		} `json:"params"`
	}
	if ahp.Unmarshal(frame, &action) != nil || action.Method != ahp.ActionNotification.Name {
		return nil
	}
	if seq := action.Params.ServerSeq; seq <= r.seen[conn] {
		return fmt.Errorf("serverSeq %d after %d: %.400s", seq, r.seen[conn], frame)
	}
	r.seen[conn] = action.Params.ServerSeq
	return nil
}

func (r *run) silent(c Conn) error {
	next := c.Next
	if q, ok := c.(Quieter); ok {
		next = q.Quiet
	}
	frame, err := next()
	if err == nil {
		r.have = frame
		return fmt.Errorf("want silence, have %.400s", frame)
	}
	if errors.Is(err, ErrSilent) {
		return nil
	}
	return err
}

// closed wants the end of a connection, with a code; frames may come before it
// where the host was flooded.
func (r *run) closed(c Conn, s Step) error {
	want, _ := strconv.Atoi(s.Text)
	frame, err := c.Next()
	for err == nil && s.Op == OpFlooded {
		frame, err = c.Next()
	}
	if err == nil {
		r.have = frame
		return fmt.Errorf("want a close with %d, have %.400s", want, frame)
	}
	if end, ok := errors.AsType[*Closed](err); !ok || end.Code != want {
		return fmt.Errorf("want a close with %d: %w", want, err)
	}
	return nil
}

// callAgent starts a call; its answer is asked for by a later step, so that what
// the call does to the connections can stand in between.
func (r *run) callAgent(ctx context.Context, text string) error {
	text, err := r.bound.Expand(text)
	if err != nil {
		return err
	}
	tool, args, _ := strings.Cut(text, " ")
	if args == "" {
		args = "{}"
	}
	answer := make(chan agentAnswer, 1)
	r.agent = answer
	r.calls.Go(func() {
		v, err := r.env.Agent(ctx, tool, ahp.Value(args))
		answer <- agentAnswer{v, err}
	})
	return nil
}

func (r *run) agentAnswered(ctx context.Context, s Step) error {
	a, err := r.takeAnswer(ctx)
	if err != nil {
		return err
	}
	r.have = a.value
	failure, failed := errors.AsType[*AgentError](a.err)
	if failed {
		r.have = failure.Data
	}
	switch {
	case a.err != nil && !failed:
		return a.err
	case s.Op == OpAgentError && !failed:
		return fmt.Errorf("want an error %s, have %s", s.Text, a.value)
	case s.Op == OpAgentError:
		return r.bound.Match(ahp.Value(s.Text), failure.Data)
	case failed:
		return fmt.Errorf("want %s, have the error %s", s.Text, failure.Data)
	}
	return r.bound.Match(ahp.Value(s.Text), a.value)
}

// takeAnswer returns the answer to the call under way: at once, or, in real time,
// when it is there.
func (r *run) takeAnswer(ctx context.Context) (a agentAnswer, err error) {
	if r.agent == nil {
		return a, errors.New("no call of the agent is under way")
	}
	r.env.Settle()
	if w, ok := r.env.(Waiter); ok {
		ctx, cancel := w.WaitAgent(ctx)
		defer cancel()
		select {
		case a = <-r.agent:
		case <-ctx.Done():
			return a, errors.New("the agent's call has no answer yet")
		}
	} else {
		select {
		case a = <-r.agent:
		default:
			return a, errors.New("the agent's call has no answer yet")
		}
	}
	r.agent = nil
	return a, nil
}
