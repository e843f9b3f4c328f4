package peer

import (
	"context"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Payload names the places in a result where a long string might be, as JSON
// Pointers (RFC 6901).
type Payload struct {
	// Text is the place of a string.
	Text string
	// Base64 is the place of a string that is returned decoded (RFC 4648 section 4:
	// padded, without line ends).
	Base64 string
}

// CallPayload is [Peer.Call] for a result that is mostly one long string. If data is
// not nil, it is that string, and the result has "" in its place. If data is nil,
// the result is complete, even if it has such a string.
func (p *Peer) CallPayload(ctx context.Context, method string, params any, where Payload) (result ahp.Value, data []byte, err error) {
	c, err := newCall(method, params)
	if err != nil {
		return nil, nil, err
	}
	c.payloadAt = &where
	defer p.payloads.remove(c)
	result, err = p.call(ctx, p.out.opts.CallTimeout, c)
	switch {
	case err != nil:
		return nil, nil, err
	case c.payload == nil:
		return result, nil, nil
	case c.payload.err != nil:
		return nil, nil, fmt.Errorf("call %s: %w", method, c.payload.err)
	}
	return result, c.payload.data, nil
}

// payload is the string that was removed from an answer.
type payload struct {
	data []byte
	err  error
}

// payloadTable has the calls in flight that were made with a Payload. Its mutex is a
// leaf.
type payloadTable struct {
	mu   sync.Mutex
	byID map[uint64]*Payload
}

// add records a call before it is sent, if it has a Payload.
func (w *payloadTable) add(c *call) {
	if c.payloadAt == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byID == nil {
		w.byID = map[uint64]*Payload{}
	}
	w.byID[c.id] = c.payloadAt
}

func (w *payloadTable) remove(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byID, c.id)
	if len(w.byID) == 0 {
		w.byID = nil
	}
}

func (w *payloadTable) get(id uint64) *Payload {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byID[id]
}

func (w *payloadTable) none() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byID) == 0
}
