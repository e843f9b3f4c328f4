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

// ErrBusy is returned for a call if Options.CallQueue calls are waiting.
var ErrBusy = errors.New("too many calls wait for this peer")

// calls limits the outgoing calls. Their table is jsonrpc2's.
type calls struct {
	once    sync.Once     // makes slots, because most connections never call
	slots   chan struct{} // has one element for each call in flight; waiters proceed in order
	waiting atomic.Int32
	// abandoned counts calls without a waiter that are still in jsonrpc2's table,
	// because they have no answer.
	abandoned atomic.Int32
	sent      idSet // of the calls in jsonrpc2's table
}

// idSet is a set of the ids of calls. Its mutex is a leaf.
type idSet struct {
	mu  sync.Mutex
	ids map[uint64]struct{} // nil before the first call
}

func (s *idSet) add(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[uint64]struct{}{}
	}
	s.ids[id] = struct{}{}
}

func (s *idSet) remove(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, id)
}

func (s *idSet) has(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.ids[id]
	return ok
}

// call is one outgoing call. jsonrpc2 carries it as a field of its request.
type call struct {
	method string
	params ahp.Value
	id     uint64
	result ahp.Value
	err    *ahp.Error
	state  atomic.Int32 // callOpen, then callAnswered or callAbandoned

	then      func(ahp.Value) // nil, or the argument of CallThen
	payloadAt *Payload        // nil unless made by CallPayload
	payload   *payload
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

// complete is called by the reader when a call has its answer.
func (cs *calls) complete(c *call) {
	switch {
	case !c.state.CompareAndSwap(callOpen, callAnswered):
		cs.abandoned.Add(-1)
	case c.then != nil && c.err == nil:
		c.then(c.result)
	}
}

// Call sends a request and waits for its answer, at most Options.CallTimeout after
// sending. params is encoded before Call waits. An ahp.Value is sent unchanged, and
// nil omits the member. Without an error the result is not nil: a null or absent
// result is ahp.Null. The error is the other side's *ahp.Error, or wraps
// context.DeadlineExceeded, ctx's error, ErrBusy, or the *ws.CloseError of a
// connection that ended. Call must not be called inside Handle.
func (p *Peer) Call(ctx context.Context, method string, params any) (ahp.Value, error) {
	return p.CallWithin(ctx, p.out.opts.CallTimeout, method, params)
}

// CallWithin is Call with another timeout.
func (p *Peer) CallWithin(ctx context.Context, timeout time.Duration, method string, params any) (ahp.Value, error) {
	c, err := newCall(method, params)
	if err != nil {
		return nil, err
	}
	return p.call(ctx, timeout, c)
}

// CallThen is Call for a result that must be processed in its order among the other
// side's messages. The reader calls then with the result before it looks at later
// messages and, with Options.HandleOnReader, after it has handled earlier ones. Like
// Handle, then must not wait. If CallThen returns nil, then has been called; if it
// returns an error, then is never called.
func (p *Peer) CallThen(ctx context.Context, method string, params any, then func(result ahp.Value)) error {
	c, err := newCall(method, params)
	if err != nil {
		return err
	}
	c.then = then
	_, err = p.call(ctx, p.out.opts.CallTimeout, c)
	return err
}

func (p *Peer) call(ctx context.Context, timeout time.Duration, c *call) (ahp.Value, error) {
	method := c.method
	if err := p.calls.acquire(ctx, p); err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	defer p.calls.release()
	waiter, err := p.rpc.DispatchCall(ctx, method, nil, jsonrpc2.ExtraField(callField, c))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, p.whyClosed())
	}
	p.out.flush(false)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = waiter.Wait(limited, nil)
	if limited.Err() != nil && err != nil && !p.abandon(c) {
		err = waiter.Wait(context.WithoutCancel(ctx), nil) // it has an answer, or the connection ended
	}
	switch {
	case err == nil && c.err != nil:
		return nil, c.err
	case err == nil:
		return c.result, nil
	case errors.Is(err, jsonrpc2.ErrClosed):
		return nil, fmt.Errorf("call %s: it was sent, and the connection ended before the answer, so whether it was done is unknown: %w", method, p.whyClosed())
	}
	if ctx.Err() == nil {
		return nil, fmt.Errorf("call %s: no answer within %s: %w", method, timeout, context.DeadlineExceeded)
	}
	return nil, fmt.Errorf("call %s: %w", method, ctx.Err())
}

// acquire waits until a call of p may be sent.
func (cs *calls) acquire(ctx context.Context, p *Peer) error {
	cs.once.Do(func() { cs.slots = make(chan struct{}, p.out.opts.Calls) })
	select {
	case cs.slots <- struct{}{}:
		return nil
	default:
	}
	defer cs.waiting.Add(-1)
	if int(cs.waiting.Add(1)) > p.out.opts.CallQueue {
		return ErrBusy
	}
	select {
	case cs.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.ctx.Done():
		return p.whyClosed()
	}
}

// release ends a call that acquire has admitted.
func (cs *calls) release() { <-cs.slots }

// abandon gives up a call, and closes a peer that leaves too many calls unanswered.
// It returns false if the call has its answer.
func (p *Peer) abandon(c *call) bool {
	if !c.state.CompareAndSwap(callOpen, callAbandoned) {
		return false
	}
	if int(p.calls.abandoned.Add(1)) > p.out.opts.Abandoned {
		p.out.abort(ws.CodePolicy, "too many requests were left without an answer")
	}
	return true
}

// whyClosed returns the error for a call that the connection's end prevents.
func (p *Peer) whyClosed() error {
	if err := p.Err(); err != nil {
		return err
	}
	return &ws.CloseError{Code: ws.CodeGoingAway, Reason: "closing"}
}
