package canvas

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// call is one request to a provider. It is over when the provider is lost, the
// deadline has passed, the caller is gone or the service ends, whichever is first.
// A provider is lost in a transaction, which ends its calls: one that is not over
// in the transaction that publishes its answer was asked of the provider that is
// there.
type call struct {
	reg    *Registration
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  func()
}

// begin notes a call to a provider that is there; end forgets it. The deadline
// runs from here, but for a client's, whose runs from sending (see [Caller]).
func (s *Service) begin(ctx context.Context, r *Registration, timeout time.Duration) (*call, error) {
	stop := func() {}
	if r.ext.ClientID == "" {
		ctx, stop = context.WithTimeoutCause(ctx, timeout, errTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{reg: r, ctx: ctx, cancel: cancel, ended: func() { cancel(nil); stop() }}
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
		c.ended()
		return nil, err
	}
	return c, nil
}

func (s *Service) end(c *call) {
	s.must(func(*channels.Tx) { delete(c.reg.calls, c) })
	c.ended()
}

// over says why an answer does not count any more; nil where it does.
func (c *call) over() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return ended(c.ctx)
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
