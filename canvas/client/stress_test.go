package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// All methods at once, on real goroutines, for the race detector.
func TestConcurrentUse(t *testing.T) {
	h := newHost(t, channels.Options{})
	c := h.dial(t, client.Options{Subscriptions: []string{sessionA}, WatchBytes: 64 << 10})
	var wg sync.WaitGroup
	each := func(times int, fn func(i int)) {
		wg.Go(func() {
			for i := range times {
				fn(i)
			}
		})
	}
	each(200, func(i int) { h.publish(sessionA, title(fmt.Sprint(i))) })
	each(200, func(i int) { _, _ = c.DispatchAsync(sessionB, title(fmt.Sprint(i))) })
	each(200, func(int) { _, _ = client.Call(t.Context(), c, session.ListSessions, session.ListSessionsParams{}) })
	each(100, func(int) { _, _ = c.Subscribe(t.Context(), sessionB) })
	each(100, func(int) { c.Unsubscribe(sessionB) })
	each(200, func(int) { _, _ = c.Session(sessionA) })
	each(20, func(int) {
		w := c.Watch()
		defer w.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		for range 50 {
			if _, err := w.Next(ctx); err != nil && !errors.Is(err, client.ErrOverflow) && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	each(20, func(i int) {
		if i%2 == 0 {
			h.net.cut()
		}
		if err := c.Reconnect(t.Context()); err != nil {
			_, isClosed := errors.AsType[*client.Closed](err)
			if !isClosed {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if err := c.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(c.Subscribe(t.Context(), sessionB))
	wantSame(t, h, c, sessionA, sessionB)

	// All calls return if the client is closed meanwhile.
	for range 8 {
		wg.Go(func() {
			for c.Err() == nil {
				_, _ = client.Call(t.Context(), c, ahp.Ping, ahp.PingParams{})
				_ = c.Dispatch(t.Context(), sessionA, title("x"))
			}
		})
	}
	c.Close()
	wg.Wait()
	wantErr(t, c.Err(), client.ErrClosed)
}
