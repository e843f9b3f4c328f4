package channels

import (
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Frame is one complete JSON text, encoded once and shared by all connections
// that receive it. It is safe for concurrent use.
//
// Connections whose queues are long count it with Hold and Release: once for all of them.
type Frame struct {
	bytes  []byte
	buffer *[]byte // the pooled memory of bytes; nil if it is not pooled
	budget.Shared
}

// NewFrame returns a frame of an encoded JSON text. The caller must not change b
// afterwards.
func NewFrame(b []byte) *Frame { return &Frame{bytes: b} }

// Bytes returns the text. The caller must not change it.
func (f *Frame) Bytes() []byte { return f.bytes }

// Written is called by the connection that has written the frame. It recycles the
// memory of a frame that only one connection receives, whose Bytes are nil
// afterwards; on other frames it has no effect.
func (f *Frame) Written() {
	if f.buffer != nil {
		*f.buffer, f.bytes = f.bytes[:0], nil
		buffers.Put(f.buffer)
		f.buffer = nil
	}
}

// Size returns the length of the text in bytes.
func (f *Frame) Size() int { return len(f.bytes) }

// buffers recycles the memory of long frames for a single connection: a flood of
// them would keep the garbage collector busy.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// pooledFrom is the length in bytes from which a frame's memory is pooled.
const pooledFrom = 16 << 10

// buffer returns pooled memory for a frame of n bytes, or nil if a frame of that
// length or audience is not pooled.
func buffer(n int, to *Audience) *[]byte {
	if n < pooledFrom || to.Conn == 0 || to.retained() {
		return nil
	}
	s := buffers.Get().(*[]byte)
	if cap(*s) < n {
		*s = make([]byte, 0, n)
	}
	return s
}
