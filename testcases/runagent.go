package testcases

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

type agentAnswer struct {
	value ahp.Value
	err   error
}

// callAgent starts a call. A later step takes its result, so the steps in
// between can show what the call does to the connections.
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

func (r *run) expectAgent(ctx context.Context, s Step) error {
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
		return fmt.Errorf("want error %s, got result %s", s.Text, a.value)
	case s.Op == OpAgentError:
		return r.bound.Match(ahp.Value(s.Text), failure.Data)
	case failed:
		return fmt.Errorf("want result %s, got error %s", s.Text, failure.Data)
	}
	return r.bound.Match(ahp.Value(s.Text), a.value)
}

// takeAnswer returns the result of the call in progress: at once or, in real
// time, when it arrives.
func (r *run) takeAnswer(ctx context.Context) (a agentAnswer, err error) {
	if r.agent == nil {
		return a, errors.New("no call of the agent is in progress")
	}
	r.env.Flush()
	if w, ok := r.env.(Waiter); ok {
		ctx, cancel := w.WaitAgent(ctx)
		defer cancel()
		select {
		case a = <-r.agent:
		case <-ctx.Done():
			return a, errors.New("the agent's call has not returned")
		}
	} else {
		select {
		case a = <-r.agent:
		default:
			return a, errors.New("the agent's call has not returned")
		}
	}
	r.agent = nil
	return a, nil
}
