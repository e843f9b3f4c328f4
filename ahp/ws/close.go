package ws

import (
	"encoding/binary"
	"io"
	"time"
	"unicode/utf8"
)

// Close starts closing the connection and returns at once. The frame that is being
// written can complete, and the close frame follows, each within Options.CloseGrace.
// Then the socket is closed. Only the first Close has an effect.
func (c *Conn) Close(code CloseCode, reason string) {
	_ = c.shut(&CloseError{Code: code, Reason: reason}, true)
}

// Wait waits until the connection has ended, the socket is closed and all goroutines
// of c have returned.
func (c *Conn) Wait() { c.wg.Wait() }

// Err returns why the connection ended, as a *[CloseError]. It is nil while the
// connection is open.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		return nil
	}
	return c.cause
}

// shut starts closing the connection, with a close frame if sendClose is true. It
// returns the cause, which is an earlier one if there is one. Deadlines wake the
// reader and a blocked writer.
func (c *Conn) shut(cause *CloseError, sendClose bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	c.cause = cause
	c.alive.Stop()
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	_ = c.nc.Conn.SetWriteDeadline(time.Now().Add(c.opts.CloseGrace))
	go c.finish(sendClose)
	return cause
}

// finish sends the close frame, waits for the peer's end and closes the socket.
func (c *Conn) finish(sendClose bool) {
	defer c.wg.Done()
	defer c.nc.Close()
	if !sendClose {
		return
	}
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	if c.broken {
		return
	}
	frame := appendFrame(nil, opClose|bitFinal, closePayload(c.cause), c.client)
	_ = c.nc.Conn.SetWriteDeadline(time.Now().Add(c.opts.CloseGrace))
	if _, err := c.nc.Conn.Write(frame); err != nil {
		return
	}
	c.nc.closeWrite()
	c.linger()
}

// linger discards what the peer sends until it closes, too. Closing a socket with
// unread bytes resets the connection, and the peer could lose the close frame.
func (c *Conn) linger() {
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	_ = c.nc.SetReadDeadline(time.Now().Add(c.opts.CloseGrace))
	_, _ = io.Copy(io.Discard, c.nc.Conn)
}

// closePayload returns the body of the close frame: the peer's code repeated, or the
// cause's code and reason.
func closePayload(cause *CloseError) []byte {
	if !cause.Code.sendable() {
		return nil
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(cause.Code))
	if cause.Remote {
		return b
	}
	reason := cause.Reason
	if len(reason) > maxControl-2 {
		reason = reason[:maxControl-2]
		for !utf8.ValidString(reason) {
			reason = reason[:len(reason)-1]
		}
	}
	return append(b, reason...)
}
