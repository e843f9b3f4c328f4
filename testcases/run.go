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

// Run plays a transcript against a host and returns a [*StepError] for the
// first step that fails. At the end, no connection may have a frame that the
// transcript does not expect. Run cancels a call of the agent that is still in
// progress then.
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
			end := fmt.Errorf("at the end, on connection %s: %w", name, err)
			return &StepError{Name: t.Name, Step: Step{Op: OpSilence, Conn: name}, Have: r.have, Err: end}
		}
	}
	return nil
}

// StepError reports the step of a transcript that failed.
type StepError struct {
	// Name is the transcript's name.
	Name string
	// Step is the failed step. Its Line is 0 if the failure is at the end of the
	// transcript.
	Step Step
	// Have is what the runner received instead of what Step wants, or nil.
	Have ahp.Value
	// Err describes the failure.
	Err error
}

// Error names the transcript, the line and the failure.
func (e *StepError) Error() string {
	if e.Step.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Step.Line, e.Err)
}

// Unwrap returns e.Err.
func (e *StepError) Unwrap() error { return e.Err }

// actor names the acting party of a step, or returns "" for a step that only
// observes.
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
	actor string           // of the last step that has one
	agent chan agentAnswer // receives the result of the call in progress
	calls sync.WaitGroup   // calls of the agent
	have  ahp.Value        // what the current step received
}

func (r *run) step(ctx context.Context, s Step) error {
	r.have = nil
	r.flushBefore(s.actor())
	switch s.Op {
	case OpClock:
		r.env.Pass(s.Wait)
		return nil
	case OpHost:
		return r.env.Host(ctx, s.Text)
	case OpAgentCall:
		return r.callAgent(ctx, s.Text)
	case OpAgentValue, OpAgentError:
		return r.expectAgent(ctx, s)
	case OpOpen:
		return r.open(ctx, s)
	}
	c, err := r.conn(ctx, s.Conn)
	if err != nil {
		return err
	}
	return r.connStep(c, s)
}

// flushBefore flushes before a step of another actor than the last one. Frames
// that one connection sends in succession are pipelined; steps of others come
// after them. An observing step, with actor "", changes nothing.
func (r *run) flushBefore(actor string) {
	if actor == "" {
		return
	}
	if actor != r.actor {
		r.env.Flush()
	}
	r.actor = actor
}

// connStep runs a step of one connection.
func (r *run) connStep(c Conn, s Step) error {
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

// conn returns a connection. Connection "a" is dialed when it is first used.
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
	if err := r.checkSeq(s.Conn, ahp.Value(frame)); err != nil {
		return err
	}
	return r.bound.Match(ahp.Value(s.Text), ahp.Value(frame))
}

// checkSeq checks that serverSeq rises on a connection, which expectations
// cannot express.
func (r *run) checkSeq(conn string, frame ahp.Value) error {
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
		return fmt.Errorf("serverSeq %d does not rise above %d: %.400s", seq, r.seen[conn], frame)
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
		return fmt.Errorf("want no frame, got %.400s", frame)
	}
	if errors.Is(err, ErrSilent) {
		return nil
	}
	return err
}

// closed checks that the host closed the connection with a code. For OpFlooded,
// frames can precede the close.
func (r *run) closed(c Conn, s Step) error {
	want, _ := strconv.Atoi(s.Text)
	frame, err := c.Next()
	for err == nil && s.Op == OpFlooded {
		frame, err = c.Next()
	}
	if err == nil {
		r.have = frame
		return fmt.Errorf("want a close with %d, got %.400s", want, frame)
	}
	if end, ok := errors.AsType[*Closed](err); !ok || end.Code != want {
		return fmt.Errorf("want a close with %d: %w", want, err)
	}
	return nil
}
