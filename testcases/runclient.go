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

// Client is the client under test of a transcript; the runner is its host.
type Client interface {
	// Do starts what a "client" line names, a word and its arguments, and
	// returns without waiting for it.
	Do(ctx context.Context, what string) error
	// Done reports whether what was started last has ended, and its error.
	Done() (ended bool, err error)
	// State returns the client's state of a channel, and whether the client
	// follows it.
	State(uri string) (ahp.Value, bool)
	// Accept returns the next connection that the client has opened, or
	// ErrSilent.
	Accept() (Conn, error)
	// Flush returns when everything that was done before has had its effect.
	Flush()
	// Pass lets time pass.
	Pass(d time.Duration)
}

// RunClient plays the host of a transcript and returns a [*StepError] for the
// first step that fails. The arrows of a transcript are always the client's:
// the runner expects what the client sends, and sends what the client receives.
func (t *Transcript) RunClient(ctx context.Context, c Client) error {
	r := &clientRun{client: c, bound: Bindings{}, conns: map[string]Conn{}}
	for _, s := range t.Steps {
		c.Flush()
		if err := r.step(ctx, s); err != nil {
			return &StepError{Name: t.Name, Step: s, Err: err}
		}
	}
	c.Flush()
	for name, conn := range r.conns {
		if err := quiet(conn); err != nil {
			return &StepError{Name: t.Name, Step: Step{Op: OpQuiet, Conn: name}, Err: fmt.Errorf("at the end, on connection %s: %w", name, err)}
		}
	}
	return nil
}

type clientRun struct {
	client Client
	bound  Bindings
	conns  map[string]Conn
}

func (r *clientRun) step(ctx context.Context, s Step) error {
	switch s.Op {
	case OpClock:
		r.client.Pass(s.Wait)
		return nil
	case OpClient:
		return r.do(ctx, s.Text)
	case OpSend, OpMaybe, OpExpect, OpQuiet, OpCut, OpClose:
		return r.frame(s)
	}
	return errors.New("this step is only for transcripts that test a host")
}

// frame runs a step of one connection.
func (r *clientRun) frame(s Step) error {
	conn, err := r.conn(s.Conn)
	if err != nil {
		return err
	}
	switch s.Op {
	case OpSend, OpMaybe:
		frame, err := conn.Next()
		if s.Op == OpMaybe && errors.Is(err, ErrSilent) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("want %s: %w", s.Text, err)
		}
		return r.bound.Match(ahp.Value(s.Text), ahp.Value(frame))
	case OpExpect:
		frame, err := r.bound.Expand(s.Text)
		if err != nil {
			return err
		}
		return conn.Send([]byte(frame))
	case OpQuiet:
		return quiet(conn)
	default:
		delete(r.conns, s.Conn)
		return conn.Close(s.Op == OpCut)
	}
}

// quiet checks that the client has sent nothing. A connection that the client
// closed passes.
func quiet(c Conn) error {
	frame, err := c.Next()
	if err == nil {
		return fmt.Errorf("want no frame, got %.400s", frame)
	}
	if _, closed := errors.AsType[*Closed](err); closed || errors.Is(err, ErrSilent) {
		return nil
	}
	return err
}

// conn returns a connection. A name that is used for the first time is the next
// connection that the client has opened.
func (r *clientRun) conn(name string) (Conn, error) {
	if c := r.conns[name]; c != nil {
		return c, nil
	}
	c, err := r.client.Accept()
	if err != nil {
		return nil, fmt.Errorf("the client has not opened connection %s: %w", name, err)
	}
	r.conns[name] = c
	return c, nil
}

// do runs a "client" line: a question about the client or a command.
func (r *clientRun) do(ctx context.Context, line string) error {
	line, err := r.bound.Expand(line)
	if err != nil {
		return err
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "done":
		return r.ended("")
	case "failed":
		return r.failed(rest)
	case "state":
		return r.state(rest)
	}
	return r.client.Do(ctx, line)
}

func (r *clientRun) ended(want string) error {
	ended, err := r.client.Done()
	switch {
	case !ended:
		return errors.New("the client has not finished")
	case want == "" && err != nil:
		return fmt.Errorf("the client failed: %w", err)
	}
	return nil
}

// failed checks that the last command failed, with the code if the line has
// one.
func (r *clientRun) failed(code string) error {
	if err := r.ended("an error"); err != nil {
		return err
	}
	_, err := r.client.Done()
	if err == nil {
		return errors.New("the client did not fail")
	}
	want, bad := strconv.Atoi(code)
	if code == "" {
		return nil
	}
	if e, ok := errors.AsType[*ahp.Error](err); bad != nil || !ok || int(e.Code) != want {
		return fmt.Errorf("want error %s, got %w", code, err)
	}
	return nil
}

// state compares the client's state of a channel with JSON, or with "none".
func (r *clientRun) state(line string) error {
	uri, want, _ := strings.Cut(line, " ")
	have, follows := r.client.State(uri)
	switch {
	case want == "none" && follows:
		return fmt.Errorf("the client still has %s: %.400s", uri, have)
	case want == "none":
		return nil
	case !follows:
		return fmt.Errorf("the client does not have %s", uri)
	}
	return r.bound.Match(ahp.Value(want), have)
}
