package ws

import (
	"encoding/binary"
	"errors"
	"io"
)

// writeSealed is WriteBatch on a sealed connection. Small messages share a frame.
func (c *Conn) writeSealed(msgs [][]byte) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	w := &sealedWriter{c: c, buf: (*piece)[:maxHeader]}
	for _, m := range msgs {
		_, _ = w.Write(m)
		w.end()
	}
	w.flush()
	return w.err
}

// streamSealed is Stream on a sealed connection.
func (c *Conn) streamSealed(fn func(io.Writer) error) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	w := &sealedWriter{c: c, buf: (*piece)[:maxHeader]}
	if err := fn(w); err != nil {
		if w.err != nil {
			return w.err
		}
		return c.out.shut(&CloseError{Code: CodeInternal, Reason: "an answer failed while it was being sent", Err: err}, true)
	}
	w.end()
	w.flush()
	return w.err
}

// sealedWriter collects the pieces of a frame behind space for its header, and encrypts
// them in place.
type sealedWriter struct {
	c    *Conn
	buf  []byte // maxHeader bytes, then pieces
	open int    // the index of the current piece's header; 0 if there is none
	err  error
}

// free returns the free part of the buffer.
func (w *sealedWriter) free() []byte { return w.buf[len(w.buf) : cap(w.buf)-CodecOverhead] }

// begin makes sure that there is a current piece.
func (w *sealedWriter) begin() {
	if w.open > 0 {
		return
	}
	if len(w.free()) <= pieceHeader {
		w.flush()
	}
	w.open = len(w.buf)
	w.buf = append(w.buf, pieceMore, 0, 0)
}

// AvailableBuffer implements StreamBuffer.
func (w *sealedWriter) AvailableBuffer() []byte {
	if w.err == nil && len(w.free()) < minBuffer+pieceHeader {
		w.flush()
	}
	w.begin()
	free := w.free()
	return free[:0:len(free)]
}

// Write adds p to the current message.
func (w *sealedWriter) Write(p []byte) (int, error) {
	n := len(p)
	if free := w.free(); w.err == nil && w.open > 0 && n > 0 && n <= len(free) && &p[0] == &free[0] {
		w.buf, p = w.buf[:len(w.buf)+n], nil // p was appended to AvailableBuffer
	}
	for w.err == nil && len(p) > 0 {
		w.begin()
		m := min(len(w.free()), len(p))
		w.buf, p = append(w.buf, p[:m]...), p[m:]
		if len(w.free()) == 0 {
			w.flush()
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, nil
}

// end ends the current message.
func (w *sealedWriter) end() {
	w.begin()
	w.close(pieceEnd)
}

// close completes the header of the current piece.
func (w *sealedWriter) close(flag byte) {
	n := len(w.buf) - w.open - pieceHeader
	w.buf[w.open] = flag
	binary.BigEndian.PutUint16(w.buf[w.open+1:], uint16(n))
	if flag == pieceMore && n == 0 {
		w.buf = w.buf[:w.open]
	}
	w.open = 0
}

// flush encrypts and writes the frame.
func (w *sealedWriter) flush() {
	if w.open > 0 {
		w.close(pieceMore)
	}
	plain := w.buf[maxHeader:]
	w.buf = w.buf[:maxHeader]
	if w.err != nil || len(plain) == 0 {
		return
	}
	out := &w.c.out
	out.writing <- struct{}{}
	defer func() { <-out.writing }()
	if w.err = out.err(); w.err != nil {
		return
	}
	body, err := w.c.sealed.codec.Seal(plain)
	if err == nil && (len(body) != len(plain)+CodecOverhead || &body[0] != &plain[0]) {
		err = errors.New("the codec did not encrypt in place")
	}
	if err != nil {
		w.err = out.shut(&CloseError{Code: CodeInternal, Reason: "a frame cannot be sealed", Err: err}, true)
		return
	}
	var space [maxHeader]byte
	head, key := appendHeader(space[:0], opBinary|bitFinal, len(body), out.client)
	frame := w.buf[maxHeader-len(head) : maxHeader+len(body)]
	copy(frame, head)
	if out.client {
		maskBytes(key, 0, body)
	}
	w.err = out.write(frame)
}
