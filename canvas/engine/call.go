package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// call is one request to a provider, and the context in which it runs. It ends when
// the provider becomes unreachable, the deadline passes, the caller gives up or the
// engine shuts down. A provider becomes unreachable in a transaction, which fails its
// calls: a call that has not ended in the transaction that publishes its answer was
// made to the provider that is registered now.
//
// One context carries the deadline, and the reason of a failed call is beside it (see
// ended): a second context for the reason would double the cost for every open and
// invoke.
type call struct {
	context.Context
	reg    *Registration
	cancel context.CancelFunc
	lost   atomic.Pointer[canvas.Error] // why it failed early
	noted  bool                         // in its registration's calls; changed in transactions of its flow
	inst   *instance                    // that a person's close cuts the call of; nil for a new instance and for a close
	reopen bool                         // opens a stale instance again
}

func newCall(ctx context.Context, r *Registration, timeout time.Duration) *call {
	c := &call{reg: r}
	if r.ext.ClientID == "" {
		c.Context, c.cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
	} else { // a client's time runs from sending; see Caller
		c.Context, c.cancel = context.WithCancel(ctx)
	}
	return c
}

// fail ends a call whose provider is unreachable.
func (c *call) fail(why *canvas.Error) {
	if c.Err() == nil {
		c.lost.Store(why)
	}
	c.cancel()
}

// begin registers a call to a reachable provider; end unregisters it.
func (e *Engine) begin(ctx context.Context, r *Registration, timeout time.Duration) (*call, error) {
	return e.beginCall(newCall(ctx, r, timeout))
}

// beginCall is begin for a call with more than a timeout.
func (e *Engine) beginCall(c *call) (*call, error) {
	r := c.reg
	err := e.locked(func(*channels.ReadTx) error {
		if e.ending {
			return errShuttingDown
		}
		if r.unreachable() {
			return errUnavailable
		}
		if c.inst != nil && c.inst.cut {
			return errClosing
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

func (c *call) end() {
	if c.noted {
		c.reg.engine.log.View(func(*channels.ReadTx) { c.forget() })
	}
	c.cancel()
}

// forget unregisters the call in a transaction that runs already.
func (c *call) forget() {
	delete(c.reg.calls, c)
	c.noted = false
}

// ask runs fn and waits for it at most as long as the call lasts. An answer that
// comes later is passed to late, if late is not nil, and dropped.
func ask[T any](c *call, fn func(context.Context) (T, error), late func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var zero T
	answers := make(chan answer) // unbuffered, so the sender learns whether it was received
	started := c.reg.engine.tasks.start(func() {
		ctx, span := c.reg.engine.trace.Start(c, "provider")
		span.Set("canvas.extension", c.reg.ext.ID)
		v, err := fn(ctx)
		span.End(codeOf(err))
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
	return zero, ended(c) // also if the provider gave up because its context ended
}

// codeOf returns the code of a failure for a span, "" for success.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code
	}
	return "failed"
}

// Failures that several files return.
var (
	errTimeout      = canvas.Errorf(canvas.CodeTimeout, "the canvas's provider did not answer in time")
	errSuperseded   = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas's provider declared its canvases again: the host is opening this one again")
	errUnavailable  = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas's provider cannot be reached now")
	errClosing      = canvas.Errorf(canvas.CodeTimeout, "a person closed the canvas, and its provider did not answer soon after that")
	errShuttingDown = canvas.Errorf(canvas.CodeProviderUnavailable, "the host is shutting down")
)

// ended returns why a context is done: the reason with which a call was lost, a
// cause that is a *canvas.Error, canvas_timeout for a deadline, or the context's own
// error for a caller that gave up.
func ended(ctx context.Context) error {
	if c, ok := ctx.(*call); ok {
		if why := c.lost.Load(); why != nil {
			return why
		}
	}
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*canvas.Error](cause); ok {
		return e
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return errTimeout
	}
	return cause
}

// providerError turns what a provider returned into a *canvas.Error.
func providerError(err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok && e.Code != "" {
		return e
	}
	return canvas.Errorf(canvas.CodeHandlerError, "%s", err)
}

// cutCalls gives the flows that run and wait at an instance the time of a close: a
// person waits for the canvas to disappear. After that their calls fail. The returned
// function ends it; the instance may exist then, if the store rejected the close.
func (e *Engine) cutCalls(i *instance) (stop func()) {
	stopped := false // guarded by the log's mutex
	timer := e.tasks.after(e.timeouts.Close, func() {
		e.log.View(func(*channels.ReadTx) {
			if i.cut = !stopped; stopped {
				return
			}
			for _, r := range e.registry {
				r.failCallsOf(i, errClosing)
			}
		})
	})
	return func() {
		timer.Stop()
		e.log.View(func(*channels.ReadTx) { stopped, i.cut = true, false })
	}
}
