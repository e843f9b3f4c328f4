package canvas

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// call is one request to a provider. It is done when the provider's generation,
// the deadline, the caller or the service ends, whichever is first.
type call struct {
	reg    *Registration
	gen    uint64
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  func()
}

// begin notes a call to a provider that is there; end forgets it. The deadline
// runs from here.
func (s *Service) begin(ctx context.Context, r *Registration, timeout time.Duration) (*call, error) {
	ctx, stop := context.WithTimeoutCause(ctx, timeout, errTimeout)
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.tasks.ctx, func() { cancel(errShuttingDown) })
	c := &call{reg: r, ctx: ctx, cancel: cancel, ended: func() { unhook(); cancel(nil); stop() }}
	err := s.log.Do(func(*channels.Tx) error {
		if r.gone || r.closed {
			return errUnavailable
		}
		c.gen = r.gen
		r.calls[c] = struct{}{}
		return nil
	})
	if err != nil {
		c.ended()
		return nil, err
	}
	return c, nil
}

func (s *Service) end(c *call) {
	s.must(func(*channels.Tx) { delete(c.reg.calls, c) })
	c.ended()
}

// current reports whether an answer to the call still counts. It is asked in
// the transaction that publishes the answer.
func (c *call) current() bool {
	return c.gen == c.reg.gen && !c.reg.gone && !c.reg.closed
}

// ask runs fn and waits for it no longer than the call lasts. An answer that
// comes later is dropped; late, where it is not nil, is given it first.
func ask[T any](s *Service, c *call, fn func(context.Context) (T, error), late func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var zero T
	answers := make(chan answer, 1)
	var settled atomic.Bool // by the answer, or by the end of waiting
	started := s.tasks.start(func() {
		v, err := fn(c.ctx)
		if settled.CompareAndSwap(false, true) {
			answers <- answer{v, err}
		} else if err == nil && late != nil {
			late(v)
		}
	})
	if !started {
		return zero, errShuttingDown
	}
	var a answer
	select {
	case a = <-answers:
	case <-c.ctx.Done():
		if settled.CompareAndSwap(false, true) {
			return zero, ended(c.ctx)
		}
		a = <-answers // it was faster by a hair
	}
	if a.err == nil {
		return a.value, nil
	}
	if c.ctx.Err() != nil {
		return zero, ended(c.ctx) // it gave up because it was told to
	}
	return zero, providerError(a.err)
}
