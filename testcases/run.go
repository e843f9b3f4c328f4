package testcases

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Env is a host under test, as a transcript sees it.
type Env interface {
	// Dial opens a connection. args are the key=value words of its open line.
	Dial(ctx context.Context, args map[string]string) (Conn, error)
	// Agent calls a tool of the agent's door and waits for its answer. A tool
	// that fails returns an *AgentError.
	Agent(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error)
	// Host makes something happen inside the host.
	Host(ctx context.Context, what string) error
	// Settle returns when what was done before has had its effect, and a call of
	// the agent that takes no time has its answer: connections are not ordered
	// among each other, the steps of a transcript are.
	Settle()
	// Pass lets time pass.
	Pass(d time.Duration)
}

// Conn is one connection of a transcript.
type Conn interface {
	Send(frame []byte) error
	// Next returns the next frame. Where nothing comes without time passing it
	// returns ErrSilent; where the host closed, a *Closed.
	Next() ([]byte, error)
	// Close ends the connection: with a close handshake, or cut.
	Close(cut bool) error
}

// ErrSilent is returned by Conn.Next where nothing came.
var ErrSilent = errors.New("nothing came")

// Closed is the end of a connection, as its client saw it.
type Closed struct{ Code int }

func (c *Closed) Error() string { return fmt.Sprintf("closed with %d", c.Code) }

// AgentError is a tool's structured failure.
type AgentError struct{ Data ahp.Value }

func (e *AgentError) Error() string { return string(e.Data) }

// Run plays a transcript against a host and returns the first step that did not
// go as written. At the end no connection may hold a frame that the transcript
// does not have.
func (t *Transcript) Run(ctx context.Context, env Env) error {
	r := &run{env: env, bound: Bindings{}, conns: map[string]Conn{}, seen: map[string]int64{}}
	for _, s := range t.Steps {
		if err := r.step(ctx, s); err != nil {
			return fmt.Errorf("%s:%d: %w", t.Name, s.Line, err)
		}
	}
	for name, c := range r.conns {
		if err := silent(c); err != nil {
			return fmt.Errorf("%s: at the end, on %s: %w", t.Name, name, err)
		}
	}
	return nil
}

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
}

type agentAnswer struct {
	value ahp.Value
	err   error
}

func (r *run) step(ctx context.Context, s Step) error {
	// What one connection sends in a row is pipelined; whoever else acts comes
	// after it.
	if actor := s.actor(); actor != "" {
		if actor != r.actor {
			r.env.Settle()
		}
		r.actor = actor
	}
	switch s.Op {
	case OpClock:
		r.env.Pass(s.Wait)
		return nil
	case OpHost:
		return r.env.Host(ctx, s.Text)
	case OpAgentCall:
		return r.callAgent(ctx, s.Text)
	case OpAgentValue, OpAgentError:
		return r.agentAnswered(s)
	case OpOpen:
		return r.open(ctx, s)
	}
	c, err := r.conn(ctx, s.Conn)
	if err != nil {
		return err
	}
	switch s.Op {
	case OpSend:
		frame, err := r.bound.Expand(s.Text)
		if err != nil {
			return err
		}
		for range max(s.Times, 1) {
			if err := c.Send([]byte(frame)); err != nil {
				return err
			}
		}
		return nil
	case OpExpect:
		return r.expect(c, s)
	case OpSilence:
		return silent(c)
	case OpClosed, OpFlooded:
		delete(r.conns, s.Conn)
		return closed(c, s)
	default:
		delete(r.conns, s.Conn)
		return c.Close(s.Op == OpCut)
	}
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
	args := map[string]string{}
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

func silent(c Conn) error {
	frame, err := c.Next()
	if err == nil {
		return fmt.Errorf("want silence, have %.400s", frame)
	}
	if errors.Is(err, ErrSilent) {
		return nil
	}
	return err
}

// closed wants the end of a connection, with a code; frames may come before it
// where the host was flooded.
func closed(c Conn, s Step) error {
	want, _ := strconv.Atoi(s.Text)
	frame, err := c.Next()
	for err == nil && s.Op == OpFlooded {
		frame, err = c.Next()
	}
	if err == nil {
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
	go func() {
		v, err := r.env.Agent(ctx, tool, ahp.Value(args))
		answer <- agentAnswer{v, err}
	}()
	return nil
}

func (r *run) agentAnswered(s Step) error {
	if r.agent == nil {
		return errors.New("no call of the agent is under way")
	}
	var a agentAnswer
	r.env.Settle()
	select {
	case a = <-r.agent:
		r.agent = nil
	default:
		return errors.New("the agent's call has no answer yet")
	}
	failure, failed := errors.AsType[*AgentError](a.err)
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
