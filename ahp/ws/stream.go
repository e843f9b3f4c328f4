package ws

import "io"

// Stream writes one message whose length is not known in advance. fn writes its bytes to
// a writer, which is also a [StreamBuffer]. They are sent as fragments of 64 KiB, or as
// one fragment for a longer Write. If fn returns an error, the message is incomplete, so
// the connection is closed with CodeInternal. One goroutine writes at a time.
func (c *Conn) Stream(fn func(io.Writer) error) error {
	if c.sealed != nil {
		return c.streamSealed(fn)
	}
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	w := &streamWriter{out: &c.out, buf: (*piece)[:maxHeader], first: opText}
	if err := fn(w); err != nil {
		if w.err != nil {
			return w.err
		}
		return c.out.shut(&CloseError{Code: CodeInternal, Reason: "an answer failed while it was being sent", Err: err}, true)
	}
	if w.err == nil {
		w.flush(bitFinal)
	}
	return w.err
}

// StreamBuffer is a writer that can be written to without a copy.
type StreamBuffer interface {
	// AvailableBuffer returns an empty slice with a capacity of at least 1 KiB. Bytes
	// that are appended to it are not copied if they are the next to be written.
	AvailableBuffer() []byte
}

// minBuffer is the free space, in bytes, below which AvailableBuffer sends a fragment.
const minBuffer = 1 << 10

// streamWriter is the writer of Stream. It collects a fragment behind space for its
// header, so that both are sent in one write without a copy.
type streamWriter struct {
	out   *writer
	buf   []byte // maxHeader bytes, then payload
	first byte   // opcode of the next fragment
	err   error
}

// AvailableBuffer implements StreamBuffer.
func (w *streamWriter) AvailableBuffer() []byte {
	if w.err == nil && cap(w.buf)-len(w.buf) < minBuffer {
		w.flush(0)
	}
	return w.buf[len(w.buf):len(w.buf):cap(w.buf)]
}

// Write adds p to the message.
func (w *streamWriter) Write(p []byte) (int, error) {
	n := len(p)
	if free := w.buf[len(w.buf):cap(w.buf)]; w.err == nil && n > 0 && n <= len(free) && &p[0] == &free[0] {
		w.buf, p = w.buf[:len(w.buf)+n], nil // p was appended to AvailableBuffer
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

// flush writes one fragment. The lock is released between fragments, so that a pong can
// be sent before the end of a long message.
func (w *streamWriter) flush(final byte) {
	payload := w.buf[maxHeader:]
	var header [maxHeader]byte
	h, key := appendHeader(header[:0], w.first|final, len(payload), w.out.client)
	if w.out.client {
		maskBytes(key, 0, payload)
	}
	start := maxHeader - len(h)
	copy(w.buf[start:], h)
	w.out.writing <- struct{}{}
	defer func() { <-w.out.writing }()
	w.err = w.out.write(w.buf[start:])
	w.buf, w.first = w.buf[:maxHeader], opContinue
}

// large writes p as a fragment.
func (w *streamWriter) large(p []byte) {
	out := pieces.Get().(*[]byte)
	defer pieces.Put(out)
	w.out.writing <- struct{}{}
	defer func() { <-w.out.writing }()
	if w.err = w.out.err(); w.err == nil {
		w.err = w.out.writeLarge((*out)[:0], w.first, p)
	}
	w.first = opContinue
}
