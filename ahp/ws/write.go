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
	buf := (*piece)[:0]
	for _, m := range msgs {
		if len(buf)+maxHeader+len(m) <= cap(buf) {
			buf = appendFrame(buf, opText|bitFinal, m, c.client)
			continue
		}
		if err := c.write(buf); err != nil {
			return err
		}
		buf = buf[:0]
		if maxHeader+len(m) <= cap(buf) {
			buf = appendFrame(buf, opText|bitFinal, m, c.client)
		} else if err := c.writeLarge(buf, opText|bitFinal, m); err != nil {
			return err
		}
	}
	return c.write(buf)
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
