package ws

import (
	"context"
	"errors"
	"os"
	"time"
)

// ReadAhead waits for the end of a connection that nothing else reads yet. It returns
// the cause if the peer closes or loses the connection, or if Close is called; and nil
// if ctx ends first. It keeps up to 4 KiB of what arrives, which [Forward] writes first.
// A close behind that many bytes is not seen.
//
// The connection must come from [Accept] or [Upgrade]. ReadAhead may be called once,
// before Forward.
func (c *Conn) ReadAhead(ctx context.Context) error {
	c.out.reading <- struct{}{}
	defer func() { <-c.out.reading }()
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		c.out.interruptReader(true)
	})
	defer func() {
		if !stop() {
			<-interrupted
		}
		c.out.interruptReader(false)
	}()
	var frames frameReader
	c.ahead = make([]byte, 0, smallBuffer)
	for taken := 0; len(c.ahead) < cap(c.ahead); {
		if err := c.Err(); err != nil {
			return err
		}
		n, err := c.out.nc.Conn.Read(c.ahead[len(c.ahead):cap(c.ahead)])
		c.ahead = c.ahead[:len(c.ahead)+n]
		if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			c.out.nc.noteRead(n, nil)
			return c.Err()
		}
		c.out.nc.noteRead(n, err)
		if bad := c.findClose(&frames, &taken); bad != nil {
			return c.out.shut(bad, true)
		}
		if err != nil {
			return c.readFailed(err)
		}
	}
	<-ctx.Done()
	return c.Err()
}

// findClose parses the frames that were read ahead, from taken on. It returns the cause
// of the end if one is a close frame or breaks the protocol.
func (c *Conn) findClose(frames *frameReader, taken *int) *CloseError {
	for *taken < len(c.ahead) {
		p, bad := frames.next(c.ahead[*taken:], c.readLimit.Load())
		if bad != nil || p.size == 0 {
			return bad
		}
		frame := c.ahead[*taken : *taken+p.size]
		*taken += p.size
		if p.control != opClose {
			continue
		}
		body := append([]byte(nil), frame[p.header:]...)
		maskBytes(p.key, 0, body)
		return c.handleControl(opClose, body)
	}
	return nil
}

// interruptReader wakes the reader, or lets it wait again. The end of the connection has
// set the deadline for good.
func (w *writer) interruptReader(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil {
		return
	}
	var at time.Time
	if on {
		at = time.Unix(1, 0)
	}
	_ = w.nc.SetReadDeadline(at)
}
