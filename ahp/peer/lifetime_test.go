package peer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestLifetime checks that a connection's context and those derived from it end together,
// and that they leave nothing behind.
func TestLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lifetime
		for range 3 {
			ctx, cancel := context.WithTimeout(&l, time.Minute)
			if ctx.Err() != nil || l.Err() != nil || len(l.after) != 1 {
				t.Error(ctx.Err(), l.Err(), len(l.after))
			}
			cancel()
			if l.after != nil {
				t.Error("an ended context is still known")
			}
		}
		before, cancelBefore := context.WithCancel(&l)
		defer cancelBefore()
		called := false
		stop := context.AfterFunc(&l, func() { called = true })
		l.cancel()
		l.cancel()
		after, cancelAfter := context.WithCancel(&l)
		defer cancelAfter()
		<-before.Done()
		<-after.Done()
		<-l.Done()
		synctest.Wait()
		if stop() || !called || l.Err() != context.Canceled {
			t.Error(called, l.Err())
		}
	})
}
