package ws

import "io"

// Stream writes one message whose length is not known beforehand: fn writes
// its bytes, and they leave as fragments of 64 KiB or of what fn hands over at
// once. An error of fn leaves half a message behind, so it closes the
// connection with CodeInternal. One goroutine writes at a time.
//
// fn's writer is a [StreamBuffer].
func (c *Conn) Stream(fn func(io.Writer) error) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	w := &streamWriter{c: c, buf: (*piece)[:maxHeader], first: opText}
	if err := fn(w); err != nil {
		if w.err != nil {
			return w.err
		}
		return c.shut(&CloseError{Code: CodeInternal, Reason: "a message could not be completed", Err: err}, true)
	}
	if w.err == nil {
		w.flush(bitFinal)
	}
	return w.err
}

// StreamBuffer saves a copy of what is written: it is appended to
// AvailableBuffer's empty slice, whose capacity is at least minBuffer, and then
// written, before anything else is.
type StreamBuffer interface {
	AvailableBuffer() []byte
}

// minBuffer is where a fragment is full enough to leave, in bytes that are free.
const minBuffer = 1 << 10

// streamWriter gathers a fragment behind the room for its header, so that both
// leave in one write and nothing is copied on the way.
type streamWriter struct {
	c     *Conn
	buf   []byte // maxHeader bytes, then payload
	first byte   // opcode of the next fragment
	err   error
}

func (w *streamWriter) AvailableBuffer() []byte {
	if w.err == nil && cap(w.buf)-len(w.buf) < minBuffer {
		w.flush(0)
	}
	return w.buf[len(w.buf):len(w.buf):cap(w.buf)]
}

func (w *streamWriter) Write(p []byte) (int, error) {
	n := len(p)
	if free := w.buf[len(w.buf):cap(w.buf)]; w.err == nil && n > 0 && n <= len(free) && &p[0] == &free[0] {
		w.buf, p = w.buf[:len(w.buf)+n], nil // it lies there already
	}
	for w.err == nil && len(p) > 0 {
		if len(w.buf) == maxHeader && len(p) >= pieceSize {
			w.large(p)
			break
		}
		m := min(cap(w.buf)-len(w.buf), len(p))
		w.buf = append(w.buf, p[:m]...)
		p = p[m:]
		if len(w.buf) == cap(w.buf) {
			w.flush(0)
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, nil
}

// flush writes one fragment. The lock is let go between fragments, so that a
// pong passes a long message.
func (w *streamWriter) flush(final byte) {
	payload := w.buf[maxHeader:]
	var header [maxHeader]byte
	h, key := appendHeader(header[:0], w.first|final, len(payload), w.c.client)
	if w.c.client {
		maskBytes(key, 0, payload)
	}
	start := maxHeader - len(h)
	copy(w.buf[start:], h)
	w.c.writing <- struct{}{}
	defer func() { <-w.c.writing }()
	w.err = w.c.write(w.buf[start:])
	w.buf, w.first = w.buf[:maxHeader], opContinue
}

// large writes a fragment of what was handed over at once.
func (w *streamWriter) large(p []byte) {
	out := pieces.Get().(*[]byte)
	defer pieces.Put(out)
	w.c.writing <- struct{}{}
	defer func() { <-w.c.writing }()
	if w.err = w.c.Err(); w.err == nil {
		w.err = w.c.writeLarge((*out)[:0], w.first, p)
	}
	w.first = opContinue
}
