package channels

import (
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Batch is frames that follow each other on their way to many connections. It is
// safe for concurrent use.
type Batch struct {
	messages [][]byte
	size     int              // of the messages, in bytes
	rows     []*ahp.ActionRow // each once

	once   sync.Once
	framed []byte
}

func newBatch(entries []*Entry, size int) *Batch {
	b := &Batch{messages: make([][]byte, 0, len(entries)), size: size}
	for _, e := range entries {
		b.messages = append(b.messages, e.frame.Bytes())
		if !slices.Contains(b.rows, e.row) {
			b.rows = append(b.rows, e.row)
		}
	}
	return b
}

// Messages returns the texts in their order; the caller must not change them.
func (b *Batch) Messages() [][]byte { return b.messages }

// Each delivers the texts one by one: what a sink does that does not write to a
// socket.
func (b *Batch) Each(deliver func(*Frame)) {
	for _, m := range b.messages {
		deliver(NewFrame(m))
	}
}

// Size returns the length of the texts in bytes.
func (b *Batch) Size() int { return b.size }

// Framed returns what frame makes of the messages. It is made once, by whoever
// asks first: all connections write the same bytes.
func (b *Batch) Framed(frame func(messages [][]byte) []byte) []byte {
	b.once.Do(func() { b.framed = frame(b.messages) })
	return b.framed
}
