package ws

import (
	"encoding/binary"
	"io"
	"time"
	"unicode/utf8"
)

// Close begins the end of the connection and returns at once, whatever state
// the socket is in: the frame that is being written may complete and the close
// frame follow it, each within Options.CloseGrace; then the socket is closed.
// The first cause wins; a second Close changes nothing.
func (c *Conn) Close(code CloseCode, reason string) {
	_ = c.shut(&CloseError{Code: code, Reason: reason}, true)
}

// Wait returns when the connection has ended, the socket is closed and no
// goroutine of c is left.
func (c *Conn) Wait() { c.wg.Wait() }

// Err returns why the connection ended, as a *[CloseError], or nil while it
// lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		return nil
	}
	return c.cause
}

// shut records why the connection ends and starts its end; it returns the cause
// that holds. The reader and a blocked writer are woken by their deadlines.
func (c *Conn) shut(cause *CloseError, sayGoodbye bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	c.cause = cause
	c.alive.Stop()
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	_ = c.nc.Conn.SetWriteDeadline(time.Now().Add(c.opts.CloseGrace))
	go c.finish(sayGoodbye)
	return cause
}

func (c *Conn) finish(sayGoodbye bool) {
	defer c.wg.Done()
	defer c.nc.Close()
	if !sayGoodbye {
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

// linger reads what the peer still sends until it closes too: a socket that is
// closed with unread bytes resets the connection, and the peer may lose the
// close frame that it has not read yet.
func (c *Conn) linger() {
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	_ = c.nc.SetReadDeadline(time.Now().Add(c.opts.CloseGrace))
	_, _ = io.Copy(io.Discard, c.nc.Conn)
}

// closePayload is the body of the close frame: an echo of the peer's code, or
// our own with its reason.
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
