package channels

import (
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Batch is a sequence of frames for many connections. It is safe for concurrent
// use.
type Batch struct {
	messages [][]byte
	size     int              // of all messages, in bytes
	rows     []*ahp.ActionRow // the distinct rows of its entries

	once   sync.Once
	framed []byte
	budget.Shared
}

func newBatch(l *budget.Ledger, entries []*Entry, size int) *Batch {
	b := &Batch{messages: make([][]byte, 0, len(entries)), size: size}
	b.Init(l, budget.Queues, 2*int64(size)) // the messages and their frames
	for _, e := range entries {
		b.messages = append(b.messages, e.frame.Bytes())
		if !slices.Contains(b.rows, e.row) {
			b.rows = append(b.rows, e.row)
		}
	}
	return b
}

// Messages returns the JSON texts in order. The caller must not change them.
func (b *Batch) Messages() [][]byte { return b.messages }

// Each calls deliver with every message, for a sink that does not write to a
// socket.
func (b *Batch) Each(deliver func(*Frame)) {
	for _, m := range b.messages {
		deliver(NewFrame(m))
	}
}

// Size returns the length of all messages in bytes.
func (b *Batch) Size() int { return b.size }

// Framed returns the result of frame for the messages. Only the first call
// computes it, so that all connections write the same bytes.
func (b *Batch) Framed(frame func(messages [][]byte) []byte) []byte {
	b.once.Do(func() { b.framed = frame(b.messages) })
	return b.framed
}
