package ws

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
)

// pieceSize is how many bytes are collected for one write to the socket.
const pieceSize = 64 << 10

var pieces = sync.Pool{New: func() any { b := make([]byte, 0, pieceSize); return &b }}

// WriteBatch writes messages, one frame each, in pieces of at most 64 KiB. Small messages
// share a piece. It returns once the socket has taken all bytes. If the socket takes
// none for Options.WriteStall, the connection is closed with CodeSlow. After the end,
// the error is the connection's *[CloseError]. One goroutine writes at a time.
func (c *Conn) WriteBatch(msgs [][]byte) error {
	if c.sealed != nil {
		return c.writeSealed(msgs)
	}
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	c.out.writing <- struct{}{}
	defer func() { <-c.out.writing }()
	for len(msgs) > 0 {
		buf, n := c.out.appendFrames((*piece)[:0], msgs)
		if n > 0 {
			if err := c.out.write(buf); err != nil {
				return err
			}
		} else if err := c.out.writeLarge(buf, opText|bitFinal, msgs[0]); err != nil {
			return err
		}
		msgs = msgs[max(n, 1):]
	}
	return nil
}

// appendFrames appends the frames of the first messages that fit into buf's capacity,
// and returns how many those are.
func (w *writer) appendFrames(buf []byte, msgs [][]byte) ([]byte, int) {
	for n, m := range msgs {
		if len(buf)+maxHeader+len(m) > cap(buf) {
			return buf, n
		}
		buf = appendFrame(buf, opText|bitFinal, m, w.client)
	}
	return buf, len(msgs)
}

// WriteFramed is WriteBatch for results of [Framed]. The connection must be an accepted
// one that is not sealed, because frames of a client are masked with different keys, and
// sealed ones encrypted.
func (c *Conn) WriteFramed(parts [][]byte) error {
	if c.sealed != nil {
		return c.refuseClear()
	}
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	c.out.writing <- struct{}{}
	defer func() { <-c.out.writing }()
	for len(parts) > 0 {
		buf, n := merge((*piece)[:0], parts)
		if err := c.out.write(buf); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// merge joins the first parts that fit into space's capacity, at least one, and returns
// how many those are. It does not copy a single part.
func merge(space []byte, parts [][]byte) ([]byte, int) {
	if len(parts) == 1 || len(parts[0])+len(parts[1]) > cap(space) {
		return parts[0], 1
	}
	for n, part := range parts {
		if len(space)+len(part) > cap(space) {
			return space, n
		}
		space = append(space, part...)
	}
	return space, len(parts)
}

// writeLarge writes a frame that does not fit into a piece. A server's payload is
// written without a copy, and a client's is masked piece by piece.
func (w *writer) writeLarge(buf []byte, first byte, m []byte) error {
	buf, key := appendHeader(buf[:0], first, len(m), w.client)
	n := min(cap(buf)-len(buf), len(m))
	start := len(buf)
	buf = append(buf, m[:n]...)
	if w.client {
		maskBytes(key, 0, buf[start:])
	}
	if err := w.write(buf); err != nil {
		return err
	}
	if !w.client {
		return w.writeAll(m[n:])
	}
	for n < len(m) {
		buf = append(buf[:0], m[n:min(n+cap(buf), len(m))]...)
		n = maskBytes(key, n, buf)
		if err := w.writeAll(buf); err != nil {
			return err
		}
	}
	return nil
}

// write writes whole frames or the beginning of one, unless the connection is closing.
// The caller holds the writing lock.
func (w *writer) write(b []byte) error {
	if err := w.err(); err != nil {
		return err
	}
	return w.writeAll(b)
}

// writeAll writes bytes that can be the middle of a frame, so it continues while the
// connection is closing, within Options.CloseGrace. A deadline without progress ends the
// connection, because the frame cannot be completed later. No deadline is set if the
// socket takes all bytes at once.
func (w *writer) writeAll(b []byte) error {
	heavy.Do(len(b), func() { b = b[tryWrite(w.nc.raw, b):] })
	for len(b) > 0 {
		closing := w.arm()
		n, err := w.nc.Conn.Write(b)
		b = b[n:]
		switch {
		case err == nil:
			w.disarm()
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && n > 0 && closing == nil:
			continue
		}
		w.broken = true
		if closing != nil {
			return closing
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return w.shut(&CloseError{Code: CodeSlow, Reason: "the peer does not read", Err: err}, true)
		}
		return w.shut(&CloseError{Code: CodeLost, Reason: "connection lost", Err: err}, false)
	}
	return nil
}

// arm sets the write deadline. If the connection is closing, arm keeps the deadline of
// the close and returns the cause.
func (w *writer) arm() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil {
		return w.cause
	}
	_ = w.nc.Conn.SetWriteDeadline(time.Now().Add(w.opts.WriteStall))
	return nil
}

// disarm removes the write deadline, because an expired one would prevent tries.
func (w *writer) disarm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause == nil && w.nc.raw != nil {
		_ = w.nc.Conn.SetWriteDeadline(time.Time{})
	}
}
