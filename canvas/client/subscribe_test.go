package client_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestSubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{})
		w := c.Watch(sessionA)
		defer w.Close()
		h.publish(sessionA, title("before"))
		snap, err := c.Subscribe(t.Context(), sessionA)
		if err != nil || snap.State.(session.State).Title != "before" || snap.Channel != sessionA || snap.Seq == 0 {
			t.Fatalf("%+v, %v", snap, err)
		}
		if ev := next(t, w); ev.Kind != client.EventSnapshot || ev.Seq != snap.Seq {
			t.Errorf("event %+v", ev)
		}
		h.publish(sessionA, title("after"))
		if ev := next(t, w); ev.State.(session.State).Title != "after" {
			t.Errorf("event %+v", ev)
		}
		again, err := c.Subscribe(t.Context(), sessionA)
		if err != nil || again.State.(session.State).Title != "after" {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

func TestSubscribeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		_, err := c.Subscribe(t.Context(), "ahp-session:/none")
		wantErr(t, err, ahp.ErrSessionNotFound)
		_, err = c.Subscribe(t.Context(), "ahp-terminal:/1")
		wantErr(t, err, ahp.ErrNotFound)

		w := c.Watch(sessionA)
		defer w.Close()
		next(t, w)
		must(client.Call(t.Context(), c, session.DisposeSession, ahp.ChannelParams{Channel: sessionA}))
		if _, ok := c.State(sessionA); !ok {
			t.Error("the client does not follow the session, although the host cannot report its end")
		}
		_, err = c.Subscribe(t.Context(), sessionA)
		wantErr(t, err, ahp.ErrSessionNotFound)
		if ev := next(t, w); ev.Kind != client.EventGone {
			t.Errorf("event %+v", ev)
		}
		if _, ok := c.State(sessionA); ok {
			t.Error("still followed")
		}
	})
}

// A session that was disposed and created again has a new channel, which the host
// does not report. Subscribing again follows it.
func TestSubscribeToARecreatedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		must(client.Call(t.Context(), c, session.DisposeSession, ahp.ChannelParams{Channel: sessionA}))
		must(client.Call(t.Context(), c, session.CreateSession, session.CreateSessionParams{Channel: sessionA}))
		h.publish(sessionA, title("next life"))
		must(c.Subscribe(t.Context(), sessionA))
		if s, _ := c.Session(sessionA); s.Title != "next life" {
			t.Errorf("title %q", s.Title)
		}
		wantSame(t, h, c, sessionA)
	})
}

func TestUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA, sessionB}})
		w := c.Watch()
		defer w.Close()
		next(t, w)
		next(t, w)
		c.Unsubscribe(sessionA)
		c.Unsubscribe("ahp-session:/none")
		if ev := next(t, w); ev.Kind != client.EventGone || ev.Channel != sessionA {
			t.Errorf("event %+v", ev)
		}
		h.publish(sessionA, title("not followed"))
		h.publish(sessionB, title("followed"))
		if ev := next(t, w); ev.Channel != sessionB {
			t.Errorf("event %+v", ev)
		}
		if _, ok := c.State(sessionA); ok {
			t.Error("still followed")
		}
		synctest.Wait()
		var subscribers int
		h.log.View(func(tx *channels.ReadTx) { subscribers = len(tx.Subscribers(sessionA)) })
		if subscribers != 0 {
			t.Error("the client is still subscribed at the host")
		}
	})
}

// Between the result of subscribe and the envelopes around it, no action of a busy
// channel is lost or applied twice.
func TestSubscribeUnderTraffic(t *testing.T) {
	h := newHost(t, channels.Options{})
	c := h.dial(t, client.Options{})
	for i := range 200 {
		var traffic sync.WaitGroup
		traffic.Go(func() {
			for j := range 20 {
				h.publish(sessionA, session.ChatAdded{Summary: session.ChatSummary{Resource: fmt.Sprint(i + j)}}, session.ChatRemoved{Chat: fmt.Sprint(i + j - 30)})
			}
		})
		if _, err := c.Subscribe(t.Context(), sessionA); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			must(c.Subscribe(t.Context(), sessionA))
		}
		traffic.Wait()
		wantSame(t, h, c, sessionA)
		c.Unsubscribe(sessionA)
	}
}

// A snapshot is an event in order with the other events of all channels.
func TestSnapshotsKeepTheOrder(t *testing.T) {
	h := newHost(t, channels.Options{})
	c := h.dial(t, client.Options{Subscriptions: []string{sessionB}})
	w := c.Watch()
	const rounds = 200
	var traffic sync.WaitGroup
	traffic.Go(func() {
		for i := range 10 * rounds {
			h.publish(sessionB, title(fmt.Sprint(i)))
		}
	})
	for range rounds {
		must(c.Subscribe(t.Context(), sessionA))
		c.Unsubscribe(sessionA)
	}
	traffic.Wait()
	h.publish(sessionB, title("the end"))
	for last := int64(0); ; {
		ev := next(t, w)
		if ev.Kind == client.EventGone {
			continue
		}
		if ev.Seq < last {
			t.Fatalf("%v of %s has the number %d after %d", ev.Kind, ev.Channel, ev.Seq, last)
		}
		last = ev.Seq
		if a, ok := ev.Action.(session.TitleChanged); ok && a.Title == "the end" {
			return
		}
	}
}

func TestSubscribeAndUnsubscribeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{})
		failed := make(chan error)
		go func() {
			_, err := c.Subscribe(t.Context(), sessionA)
			failed <- err
		}()
		for {
			c.Unsubscribe(sessionA)
			select {
			case err := <-failed:
				if err != nil && !errors.Is(err, client.ErrUnsubscribed) {
					t.Error(err)
				}
				c.Unsubscribe(sessionA)
				synctest.Wait()
				h.log.View(func(tx *channels.ReadTx) {
					if n := len(tx.Subscribers(sessionA)); n != 0 {
						t.Errorf("%d subscribers", n)
					}
				})
				return
			default:
			}
		}
	})
}
