package canvas

import (
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// call is one request to a provider, and the context in which it is asked. It is
// over when the provider is lost, the deadline has passed, the caller is gone or the
// service ends, whichever is first. A provider is lost in a transaction, which ends
// its calls: one that is not over in the transaction that publishes its answer was
// asked of the provider that is there.
//
// It has the deadline itself: a context for it below or above the one that a lost
// provider ends would cost every open and invoke as much again.
type call struct {
	context.Context
	reg      *Registration
	cancel   context.CancelCauseFunc
	deadline time.Time   // the zero time for a client's, which runs from sending (see [Caller])
	timer    *time.Timer // ends it then
}

func newCall(ctx context.Context, r *Registration, timeout time.Duration) *call {
	c := &call{reg: r}
	c.Context, c.cancel = context.WithCancelCause(ctx)
	if r.ext.ClientID == "" {
		c.deadline = time.Now().Add(timeout)
		c.timer = time.AfterFunc(timeout, func() { c.cancel(errTimeout) })
	}
	return c
}

// Deadline implements context.Context.
func (c *call) Deadline() (at time.Time, ok bool) {
	at, ok = c.Context.Deadline()
	if !c.deadline.IsZero() && (!ok || c.deadline.Before(at)) {
		return c.deadline, true
	}
	return at, ok
}

// Err implements context.Context.
func (c *call) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == error(errTimeout) {
		return context.DeadlineExceeded
	}
	return err
}

// end frees what the call holds.
func (c *call) end() {
	c.cancel(nil)
	if c.timer != nil {
		c.timer.Stop()
	}
}

// begin notes a call to a provider that is there; end forgets it.
func (s *Service) begin(ctx context.Context, r *Registration, timeout time.Duration) (*call, error) {
	c := newCall(ctx, r, timeout)
	err := s.log.Do(func(*channels.Tx) error {
		if s.ending {
			return errShuttingDown
		}
		if r.away() {
			return errUnavailable
		}
		r.calls[c] = struct{}{}
		return nil
	})
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (s *Service) end(c *call) {
	s.must(func(*channels.Tx) { delete(c.reg.calls, c) })
	c.end()
}

// over says why an answer does not count any more; nil where it does.
func (c *call) over() error {
	if c.Err() == nil {
		return nil
	}
	return ended(c)
}

// ask runs fn and waits for it no longer than the call lasts. An answer that
// comes later is dropped; late, where it is not nil, is given it first.
func ask[T any](s *Service, c *call, fn func(context.Context) (T, error), late func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var zero T
	answers := make(chan answer) // without room: who sends knows whether it was heard
	started := s.tasks.start(func() {
		v, err := fn(c)
		select {
		case answers <- answer{v, err}:
		case <-c.Done():
			if err == nil && late != nil {
				late(v)
			}
		}
	})
	if !started {
		return zero, errShuttingDown
	}
	select {
	case a := <-answers:
		switch {
		case a.err == nil:
			return a.value, nil
		case c.Err() == nil:
			return zero, providerError(a.err)
		}
	case <-c.Done():
	}
	return zero, ended(c) // also where it gave up because it was told to
}
