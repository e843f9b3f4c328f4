package channels

import "sync"

// Frame is one complete JSON text on its way to one or many connections. It is
// encoded at most once; a lazy one is encoded by whoever writes it first,
// outside every lock. A Frame is safe for concurrent use.
type Frame struct {
	once   sync.Once
	encode func() []byte
	bytes  []byte
}

// NewFrame returns a frame of bytes that are encoded already. They must not be
// changed afterwards.
func NewFrame(b []byte) *Frame { return &Frame{bytes: b} }

// LazyFrame returns a frame that calls encode once, when it is first written.
func LazyFrame(encode func() []byte) *Frame { return &Frame{encode: encode} }

// Bytes returns the text; the caller must not change it.
func (f *Frame) Bytes() []byte {
	if f.encode != nil {
		f.once.Do(func() { f.bytes = f.encode() })
	}
	return f.bytes
}

// Size returns the length in bytes of an eager frame, and 0 for a lazy one,
// whose size is known only when it is written.
func (f *Frame) Size() int {
	if f.encode != nil {
		return 0
	}
	return len(f.bytes)
}
