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
	_ = c.out.shut(&CloseError{Code: code, Reason: reason}, true)
}

// CloseIf closes like Close if nothing is being written and idle returns true, and reports
// whether it did. Nothing is written between the call of idle, which must not wait, and the
// close frame.
func (c *Conn) CloseIf(code CloseCode, reason string, idle func() bool) bool {
	select {
	case c.out.writing <- struct{}{}:
	default:
		return false
	}
	defer func() { <-c.out.writing }()
	if c.Err() != nil || !idle() {
		return false
	}
	_ = c.out.shut(&CloseError{Code: code, Reason: reason}, true)
	return true
}

// Wait waits until the connection has ended, the socket is closed and all goroutines
// of c have returned.
func (c *Conn) Wait() { c.out.wg.Wait() }

// Err returns why the connection ended, as a *[CloseError]. It is nil while the
// connection is open.
func (c *Conn) Err() error { return c.out.err() }

// err returns why the connection ended, or nil.
func (w *writer) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause == nil {
		return nil
	}
	return w.cause
}

// shut starts closing the connection, with a close frame if sendClose is true. It
// returns the cause, which is an earlier one if there is one. Deadlines wake the
// reader and a blocked writer.
func (w *writer) shut(cause *CloseError, sendClose bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil {
		return w.cause
	}
	w.cause = cause
	w.alive.Stop()
	_ = w.nc.SetReadDeadline(time.Unix(1, 0))
	_ = w.nc.Conn.SetWriteDeadline(time.Now().Add(w.opts.CloseGrace))
	go w.finish(sendClose)
	return cause
}

// finish sends the close frame, waits for the peer's end and closes the socket.
func (w *writer) finish(sendClose bool) {
	defer w.wg.Done()
	defer w.nc.Close()
	if !sendClose {
		return
	}
	w.writing <- struct{}{}
	defer func() { <-w.writing }()
	if w.broken {
		return
	}
	frame := appendFrame(nil, opClose|bitFinal, closePayload(w.cause), w.client)
	_ = w.nc.Conn.SetWriteDeadline(time.Now().Add(w.opts.CloseGrace))
	if _, err := w.nc.Conn.Write(frame); err != nil {
		return
	}
	w.nc.closeWrite()
	w.linger()
}

// linger discards what the peer sends until it closes, too. Closing a socket with
// unread bytes resets the connection, and the peer could lose the close frame.
func (w *writer) linger() {
	w.reading <- struct{}{}
	defer func() { <-w.reading }()
	_ = w.nc.SetReadDeadline(time.Now().Add(w.opts.CloseGrace))
	_, _ = io.Copy(io.Discard, w.nc.Conn)
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
