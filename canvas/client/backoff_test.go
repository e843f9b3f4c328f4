package client_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// seconds waits a second longer each time. If max is set, it stops after max.
type seconds struct {
	n, max int
	resets atomic.Int32
}

func (s *seconds) Reset() { s.n = 0; s.resets.Add(1) }

func (s *seconds) NextBackOff() time.Duration {
	if s.n++; s.max > 0 && s.n > s.max {
		return -1
	}
	return time.Duration(s.n) * time.Second
}

// dials records when the client dials.
type dials struct {
	n     *network
	began time.Time
	at    []time.Duration
}

func (d *dials) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.at = append(d.at, time.Since(d.began))
	return d.n.Dial(ctx, network, addr)
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		d := &dials{n: h.net, began: time.Now()}
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}, Backoff: &seconds{}, NetDial: d.Dial})
		w := c.Watch()
		defer w.Close()
		next(t, w)
		h.net.cut()
		<-c.Disconnected()
		h.publish(sessionA, title("missed"))
		if ev := next(t, w); ev.State.(session.State).Title != "missed" {
			t.Errorf("event %+v", ev)
		}
		// The host is unreachable for a while: attempts follow after 2, 3, 4 and 5 s,
		// because the last connection was short. The first dial also asked for a proof.
		h.stop()
		time.Sleep(10 * time.Second)
		h.start(channels.Options{})
		if ev := next(t, w); ev.Kind != client.EventSnapshot {
			t.Errorf("event %+v", ev)
		}
		if diff := cmp.Diff([]time.Duration{0, 0, 1 * time.Second, 3 * time.Second, 6 * time.Second, 10 * time.Second, 15 * time.Second}, d.at); diff != "" {
			t.Error(diff)
		}
	})
}

// A connection that lasted two seconds resets the Backoff.
func TestBackoffReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := newHost(t, channels.Options{}), &seconds{}
		c := h.dial(t, client.Options{Backoff: s})
		for want, lasts := range []time.Duration{1900 * time.Millisecond, 2100 * time.Millisecond} {
			time.Sleep(lasts)
			lost := c.Disconnected()
			h.net.cut()
			<-lost
			time.Sleep(1500 * time.Millisecond) // to the first attempt
			if got := int(s.resets.Load()) - 1; got != want || c.Err() != nil {
				t.Errorf("after %v: %d resets, err %v", lasts, got, c.Err())
			}
		}
	})
}

func TestBackoffGivesUp(t *testing.T) {
	for name, tc := range map[string]struct {
		max  int
		lose func(*testHost) // after the host has stopped
		is   func(error) bool
	}{
		"the backoff stops": {3, func(*testHost) {}, func(err error) bool { return err != nil }},
		"a token of another host": {0, func(h *testHost) {
			h.net.listenFor(h.t, "another", func(*ws.Conn) {})
		}, func(err error) bool {
			he, ok := errors.AsType[*ws.HandshakeError](err)
			return ok && he.Status == 401
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t, channels.Options{})
				h.t = t
				c := h.dial(t, client.Options{Backoff: &seconds{max: tc.max}})
				w := c.Watch()
				h.stop()
				tc.lose(h)
				_, err := w.Next(t.Context())
				given, ok := errors.AsType[*client.GivenUp](err)
				if !ok || !tc.is(given) || !errors.Is(c.Err(), given) {
					t.Errorf("watch %v, err %v", err, c.Err())
				}
			})
		})
	}
}

// Close waits for the goroutine that reconnects, in every phase.
func TestBackoffClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		connected := h.dial(t, client.Options{Backoff: &seconds{}})
		waiting := h.dial(t, client.Options{Backoff: &seconds{}})
		began := time.Now()
		connected.Close()
		h.stop()
		<-waiting.Disconnected()
		waiting.Close()
		wantErr(t, waiting.Err(), client.ErrClosed)
		if time.Since(began) > 100*time.Millisecond {
			t.Error("close waited for", time.Since(began))
		}
	})
}

func TestNewBackoff(t *testing.T) {
	b := client.NewBackoff()
	b.Reset()
	for n, middle := 0, 200*time.Millisecond; n < 20; n++ {
		if got := b.NextBackOff(); got < middle/2 || got > middle*3/2+1 {
			t.Errorf("attempt %d waits %v, want %v by half more or less", n, got, middle)
		}
		middle = min(middle*3/2, 5*time.Second)
	}
}
