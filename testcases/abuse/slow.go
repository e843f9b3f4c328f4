package main

import (
	"context"
	"time"
)

// pause waits a moment before another try.
func pause(ctx context.Context) { wait(ctx, 100*time.Millisecond) }

// wait waits for a time or the end of ctx, and reports whether ctx has not ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// trickle reads a few bytes every second, so that the host sees progress, until the
// connection or ctx ends.
func (c *conn) trickle(ctx context.Context) {
	for ctx.Err() == nil {
		m, err := c.socket.NextMessage()
		if err != nil {
			return
		}
		for wait(ctx, time.Second) {
			n, err := m.Read(make([]byte, 512))
			if n == 0 && err != nil {
				break
			}
		}
	}
}
