package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

func TestWatchOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}, WatchBytes: 2000})
		slow, quick := c.Watch(sessionA), c.Watch(sessionA)
		defer quick.Close()
		next(t, quick)
		for range 20 {
			h.publish(sessionA, title("x"))
			next(t, quick)
		}
		seen := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ev, err := range slow.All(ctx) {
			if err != nil {
				wantErr(t, err, client.ErrOverflow)
				break
			}
			if seen++; ev.Seq == 0 {
				t.Errorf("event %+v", ev)
			}
		}
		if seen < 3 || seen > 7 {
			t.Errorf("%d events fit in 2,000 bytes", seen)
		}
		_, err := slow.Next(t.Context())
		wantErr(t, err, client.ErrOverflow)
		slow.Close()
		again := c.Watch(sessionA)
		defer again.Close()
		if ev := next(t, again); ev.Kind != client.EventSnapshot {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		w := c.Watch("ahp-session:/none")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := w.Next(ctx)
		wantErr(t, err, context.Canceled)
		ended := make(chan error)
		go func() {
			_, err := w.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		w.Close()
		wantErr(t, <-ended, client.ErrClosed)

		w = c.Watch(sessionA)
		for ev := range w.All(t.Context()) {
			if ev.Kind == client.EventSnapshot {
				break
			}
		}
		w.Close()
		h.publish(sessionA, title("x"))
		_, err = w.Next(t.Context())
		wantErr(t, err, client.ErrClosed)
	})
}
