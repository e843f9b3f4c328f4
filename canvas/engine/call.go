package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// call is one request to a provider, and the context in which it is asked. It is
// over when the provider is lost, the deadline has passed, the caller is gone or the
// service ends, whichever is first. A provider is lost in a transaction, which ends
// its calls: one that is not over in the transaction that publishes its answer was
// asked of the provider that is there.
//
// It is one context, with the deadline; who loses the provider leaves its reason
// beside it (see [ended]). A second context for that reason would cost every open and
// invoke as much again.
type call struct {
	context.Context
	reg    *Registration
	cancel context.CancelFunc
	lost   atomic.Pointer[canvas.Error] // why it was over before its time
	noted  bool                         // among its registration's. Changed in transactions of its flow
}

func newCall(ctx context.Context, r *Registration, timeout time.Duration) *call {
	c := &call{reg: r}
	if r.ext.ClientID == "" {
		c.Context, c.cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
	} else { // a client's time runs from sending (see [Caller])
		c.Context, c.cancel = context.WithCancel(ctx)
	}
	return c
}

// lose ends a call whose provider is not there any more.
func (c *call) lose(why *canvas.Error) {
	if c.Err() == nil {
		c.lost.Store(why)
	}
	c.cancel()
}

// begin notes a call to a provider that is there; end forgets it.
func (s *Engine) begin(ctx context.Context, r *Registration, timeout time.Duration) (*call, error) {
	c := newCall(ctx, r, timeout)
	err := s.locked(func(*channels.ReadTx) error {
		if s.ending {
			return errShuttingDown
		}
		if r.away() {
			return errUnavailable
		}
		r.calls[c], c.noted = struct{}{}, true
		return nil
	})
	if err != nil {
		c.cancel()
		return nil, err
	}
	return c, nil
}

func (s *Engine) end(c *call) {
	if c.noted {
		s.log.View(func(*channels.ReadTx) { c.forget() })
	}
	c.cancel()
}

// forget is for transactions: nobody loses a call from here on.
func (c *call) forget() {
	delete(c.reg.calls, c)
	c.noted = false
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
func ask[T any](s *Engine, c *call, fn func(context.Context) (T, error), late func(T)) (T, error) {
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
