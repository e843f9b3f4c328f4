package channels

import "sync"

// Frame is one complete JSON text on its way to one or many connections, encoded
// once. It is safe for concurrent use.
type Frame struct {
	bytes []byte
	space *[]byte // what bytes lie in, where it is used again
}

// NewFrame returns a frame of bytes that are encoded already. They must not be
// changed afterwards.
func NewFrame(b []byte) *Frame { return &Frame{bytes: b} }

// Bytes returns the text; the caller must not change it.
func (f *Frame) Bytes() []byte { return f.bytes }

// Written is called by the writer of a frame that went to one connection alone,
// when it needs the bytes no more; they are gone then. Other frames keep theirs.
func (f *Frame) Written() {
	if f.space != nil {
		*f.space, f.bytes = f.bytes[:0], nil
		spaces.Put(f.space)
		f.space = nil
	}
}

// Size returns the length in bytes.
func (f *Frame) Size() int { return len(f.bytes) }

// spaces keep the memory of long frames that one connection alone gets: a flood
// of them would have the garbage collector at work all the time.
var spaces = sync.Pool{New: func() any { return new([]byte) }}

const lentFrom = 16 << 10 // bytes; shorter ones are cheaply made

// space returns room for n bytes, which Written gives back; nil says that a frame
// of this audience or length has memory of its own.
func space(n int, to *Audience) *[]byte {
	if n < lentFrom || to.Conn == 0 || to.retained() {
		return nil
	}
	s := spaces.Get().(*[]byte)
	if cap(*s) < n {
		*s = make([]byte, 0, n)
	}
	return s
}
