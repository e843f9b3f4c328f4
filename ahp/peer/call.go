package peer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// ErrBusy is returned where Options.CallQueue calls wait already.
var ErrBusy = errors.New("too many calls wait for this peer")

// calls counts the outgoing ones. The pending table is jsonrpc2's.
type calls struct {
	once    sync.Once     // makes slots: most connections are never asked anything
	slots   chan struct{} // one for each call in flight; waiters are served in order
	waiting atomic.Int32
	// abandoned counts calls that nobody waits for any more but that stay in
	// jsonrpc2's table until they are answered or the connection ends.
	abandoned atomic.Int32
}

// call travels through jsonrpc2 as a field of its request.
type call struct {
	method string
	params ahp.Value
	id     uint64
	result ahp.Value
	err    *ahp.Error
	state  atomic.Int32 // callOpen, then one of the other two

	then    func(ahp.Value) // or nil
	where   *Payload        // nil for a call that wants none
	payload *payload
}

func newCall(method string, params any) (*call, error) {
	raw, err := encodeParams(params)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	return &call{method: method, params: raw}, nil
}

const (
	callOpen int32 = iota
	callAnswered
	callAbandoned
)

// answered is called by the reader when a call has its answer.
func (cs *calls) answered(c *call) {
	switch {
	case !c.state.CompareAndSwap(callOpen, callAnswered):
		cs.abandoned.Add(-1)
	case c.then != nil && c.err == nil:
		c.then(c.result)
	}
}

// Call sends a request and waits for its answer, for Options.CallTimeout from
// the moment it is sent. Params is encoded now; an ahp.Value passes as it is,
// nil leaves the member out. The result is never nil without an error: a null
// result is ahp.Null. The error is the other side's *ahp.Error, or one that
// wraps context.DeadlineExceeded, ctx's error, the *ws.CloseError of a
// connection that ended, or ErrBusy. It must not be called from Handle.
func (p *Peer) Call(ctx context.Context, method string, params any) (ahp.Value, error) {
	return p.CallWithin(ctx, p.opts.CallTimeout, method, params)
}

// CallWithin is Call with a timeout of its own.
func (p *Peer) CallWithin(ctx context.Context, timeout time.Duration, method string, params any) (ahp.Value, error) {
	c, err := newCall(method, params)
	if err != nil {
		return nil, err
	}
	return p.call(ctx, timeout, c)
}

// CallThen is Call for who must take a result in its place among everything else
// that the other side says: then is called with it on the reader, before
// anything behind it is looked at, and with Options.Prompt after everything
// before it has been handled. Like Handle it must not wait. It has been called
// when CallThen returns without an error, and never is when there is one.
func (p *Peer) CallThen(ctx context.Context, method string, params any, then func(result ahp.Value)) error {
	c, err := newCall(method, params)
	if err != nil {
		return err
	}
	c.then = then
	_, err = p.call(ctx, p.opts.CallTimeout, c)
	return err
}

func (p *Peer) call(ctx context.Context, timeout time.Duration, c *call) (ahp.Value, error) {
	method := c.method
	if err := p.enter(ctx); err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	defer p.leave()
	waiter, err := p.rpc.DispatchCall(ctx, method, nil, jsonrpc2.ExtraField(callField, c))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, p.whyClosed())
	}
	p.flush(false)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = waiter.Wait(limited, nil)
	if limited.Err() != nil && err != nil && !p.abandon(c) {
		err = waiter.Wait(context.WithoutCancel(ctx), nil) // its answer is there, or its end
	}
	switch {
	case err == nil && c.err != nil:
		return nil, c.err
	case err == nil:
		return c.result, nil
	case errors.Is(err, jsonrpc2.ErrClosed):
		return nil, fmt.Errorf("call %s: %w", method, p.whyClosed())
	}
	if ctx.Err() == nil {
		return nil, fmt.Errorf("call %s: no answer within %s: %w", method, timeout, context.DeadlineExceeded)
	}
	return nil, fmt.Errorf("call %s: %w", method, ctx.Err())
}

// enter waits for a place among the calls in flight.
func (p *Peer) enter(ctx context.Context) error {
	p.calls.once.Do(func() { p.calls.slots = make(chan struct{}, p.opts.Calls) })
	select {
	case p.calls.slots <- struct{}{}:
		return nil
	default:
	}
	defer p.calls.waiting.Add(-1)
	if int(p.calls.waiting.Add(1)) > p.opts.CallQueue {
		return ErrBusy
	}
	select {
	case p.calls.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.ctx.Done():
		return p.whyClosed()
	}
}

func (p *Peer) leave() { <-p.calls.slots }

// abandon counts a call that nobody waits for any more, and gives up a peer that
// leaves too many of them unanswered. It returns false where there is an answer.
func (p *Peer) abandon(c *call) bool {
	if !c.state.CompareAndSwap(callOpen, callAbandoned) {
		return false
	}
	if int(p.calls.abandoned.Add(1)) > p.opts.Abandoned {
		p.abort(ws.CodePolicy, "too many requests were left without an answer")
	}
	return true
}

// whyClosed is the reason for a call that could not be sent or answered.
func (p *Peer) whyClosed() error {
	if err := p.Err(); err != nil {
		return err
	}
	return &ws.CloseError{Code: ws.CodeGoingAway, Reason: "closing"}
}
