package peer

import (
	"context"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Payload says where in a result one long string may stand that is handed over
// apart from it, as JSON Pointers into the result (RFC 6901).
type Payload struct {
	// Text is a string that is wanted as it is, Base64 one that is wanted decoded
	// (RFC 4648 section 4: padded, without line ends).
	Text, Base64 string
}

// CallPayload is [Peer.Call] for a result that is mostly one long string. Where
// data is not nil, it is that string, and "" stands for it in the result; where
// it is nil, the result is whole, which may be however long it is.
func (p *Peer) CallPayload(ctx context.Context, method string, params any, where Payload) (result ahp.Value, data []byte, err error) {
	c, err := newCall(method, params)
	if err != nil {
		return nil, nil, err
	}
	c.where = &where
	defer p.wanted.remove(c)
	result, err = p.call(ctx, p.opts.CallTimeout, c)
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

// payload is what was cut out of an answer.
type payload struct {
	data []byte
	err  error
}

// wanted knows the calls under way whose answers may hold a payload. Its mutex
// is a leaf.
type wanted struct {
	mu   sync.Mutex
	byID map[uint64]*Payload
}

// add notes a call that is about to be sent; it may want no payload.
func (w *wanted) add(c *call) {
	if c.where == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byID == nil {
		w.byID = map[uint64]*Payload{}
	}
	w.byID[c.id] = c.where
}

func (w *wanted) remove(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byID, c.id)
	if len(w.byID) == 0 {
		w.byID = nil
	}
}

func (w *wanted) get(id uint64) *Payload {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byID[id]
}

func (w *wanted) none() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byID) == 0
}
