package ws

import (
	"errors"
	"os"
	"sync"
	"time"
)

// pieceSize is how many bytes are gathered for one write to the socket.
const pieceSize = 64 << 10

var pieces = sync.Pool{New: func() any { b := make([]byte, 0, pieceSize); return &b }}

// WriteBatch writes messages, one frame each, in as few writes to the socket as
// 64 KiB pieces allow; a larger message is written piecewise. It returns when
// the socket has taken everything. A socket that takes nothing for
// Options.WriteStall closes the connection with CodeSlow, and then, as after
// any end, the error is the *[CloseError]. One goroutine writes at a time.
func (c *Conn) WriteBatch(msgs [][]byte) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	for len(msgs) > 0 {
		buf, n := c.gather((*piece)[:0], msgs)
		if n > 0 {
			if err := c.write(buf); err != nil {
				return err
			}
		} else if err := c.writeLarge(buf, opText|bitFinal, msgs[0]); err != nil {
			return err
		}
		msgs = msgs[max(n, 1):]
	}
	return nil
}

// gather appends as many whole messages to buf, each as a frame, as it has room
// for, and returns how many those are.
func (c *Conn) gather(buf []byte, msgs [][]byte) ([]byte, int) {
	for n, m := range msgs {
		if len(buf)+maxHeader+len(m) > cap(buf) {
			return buf, n
		}
		buf = appendFrame(buf, opText|bitFinal, m, c.client)
	}
	return buf, len(msgs)
}

// WriteFramed is WriteBatch for what [Framed] returned. It is for an accepted
// connection: a client's frames are masked, each with a key of its own.
func (c *Conn) WriteFramed(parts [][]byte) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	for len(parts) > 0 {
		buf, n := merge((*piece)[:0], parts)
		if err := c.write(buf); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// merge returns the first parts in one, as many as room holds and at least one,
// and how many those are. One alone is not copied.
func merge(room []byte, parts [][]byte) ([]byte, int) {
	if len(parts) == 1 || len(parts[0])+len(parts[1]) > cap(room) {
		return parts[0], 1
	}
	for n, part := range parts {
		if len(room)+len(part) > cap(room) {
			return room, n
		}
		room = append(room, part...)
	}
	return room, len(parts)
}

// writeLarge writes one frame that does not fit a piece. A server's payload
// goes to the socket as it lies; a client's is masked piece by piece.
func (c *Conn) writeLarge(buf []byte, first byte, m []byte) error {
	buf, key := appendHeader(buf[:0], first, len(m), c.client)
	n := min(cap(buf)-len(buf), len(m))
	start := len(buf)
	buf = append(buf, m[:n]...)
	if c.client {
		maskBytes(key, 0, buf[start:])
	}
	if err := c.write(buf); err != nil {
		return err
	}
	if !c.client {
		return c.rest(m[n:])
	}
	for n < len(m) {
		buf = append(buf[:0], m[n:min(n+cap(buf), len(m))]...)
		n = maskBytes(key, n, buf)
		if err := c.rest(buf); err != nil {
			return err
		}
	}
	return nil
}

// write writes whole frames or the beginning of one; it refuses once the
// connection is closing. The caller holds writing.
func (c *Conn) write(b []byte) error {
	if err := c.Err(); err != nil {
		return err
	}
	return c.rest(b)
}

// rest writes bytes that may be the middle of a frame, so it goes on while the
// connection closes, within the grace. A deadline that fires without progress
// ends the connection: what was written of the frame cannot be taken back. A
// socket that takes everything at once costs no deadline.
func (c *Conn) rest(b []byte) error {
	b = b[tryWrite(c.nc.raw, b):]
	for len(b) > 0 {
		closing := c.arm()
		n, err := c.nc.Conn.Write(b)
		b = b[n:]
		switch {
		case err == nil:
			c.disarm()
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && n > 0 && closing == nil:
			continue
		}
		c.broken = true
		if closing != nil {
			return closing
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return c.shut(&CloseError{Code: CodeSlow, Reason: "the peer does not read", Err: err}, true)
		}
		return c.shut(&CloseError{Code: CodeLost, Reason: "connection lost", Err: err}, false)
	}
	return nil
}

// arm sets the write deadline, unless the connection is closing: then the
// grace's deadline stands, and the cause is returned.
func (c *Conn) arm() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	_ = c.nc.Conn.SetWriteDeadline(time.Now().Add(c.opts.WriteStall))
	return nil
}

// disarm takes the deadline of a write that waited away, so that the next one
// can be tried without.
func (c *Conn) disarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil && c.CanTry() {
		_ = c.nc.Conn.SetWriteDeadline(time.Time{})
	}
}
