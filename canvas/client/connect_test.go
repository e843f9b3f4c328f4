package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// wantSame compares a mirror with the host, after all frames have arrived.
func wantSame(t testing.TB, h *testHost, c *client.Client, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		// The refusal arrives after everything that was published before.
		if err := c.Dispatch(t.Context(), uri, session.SessionReady{}); err == nil {
			t.Fatal("a host-only action was accepted")
		}
		want, there := h.log.State(uri)
		got, ok := c.State(uri)
		if ok != there || there && !ahp.Equal(ahp.MustMarshal(want), ahp.MustMarshal(got.State)) {
			t.Errorf("%s: the mirror has\n%s\nand the host\n%s", uri, ahp.MustMarshal(got.State), ahp.MustMarshal(want))
		}
	}
}

func kindsOf(events []client.Event) (list []string) {
	for _, ev := range events {
		list = append(list, string(ev.Kind)+" "+ev.Channel)
	}
	return list
}

func drain(t testing.TB, w *client.Watch, n int) (events []client.Event) {
	t.Helper()
	for range n {
		events = append(events, next(t, w))
	}
	return events
}

func TestReconnectReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA, sessionB}})
		w := c.Watch()
		defer w.Close()
		drain(t, w, 2)
		h.publish(sessionA, title("seen"))
		last := next(t, w).Seq
		h.net.cut()
		<-c.Disconnected()
		if ce, ok := errors.AsType[*client.Closed](c.Err()); !ok || ce.Remote {
			t.Errorf("err %v", c.Err())
		}
		h.publish(sessionA, title("missed"))
		h.publish(sessionB, title("missed too"))
		_ = h.log.Update(func(tx *channels.Tx) error { tx.Remove(sessionB); return nil })
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := drain(t, w, 2)
		if diff := cmp.Diff([]string{"action " + sessionA, "gone " + sessionB}, kindsOf(events)); diff != "" {
			t.Error(diff)
		}
		if ev := events[0]; ev.Seq <= last || ev.State.(session.State).Title != "missed" {
			t.Errorf("event %+v", ev)
		}
		if _, ok := c.State(sessionB); ok || c.Err() != nil {
			t.Errorf("b is followed: %v, err %v", ok, c.Err())
		}
		if err := c.Dispatch(t.Context(), sessionA, title("live again")); err != nil {
			t.Error(err)
		}
		wantSame(t, h, c, sessionA)
	})
}

// A resume starts from the newest snapshot: older entries are not replayed.
func TestReconnectReplaysAfterSubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{})
		h.publish(sessionA, title("before"))
		must(c.Subscribe(t.Context(), sessionA))
		w := c.Watch()
		defer w.Close()
		next(t, w)
		h.net.cut()
		<-c.Disconnected()
		h.publish(sessionA, title("missed"))
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ev := next(t, w); ev.Kind != client.EventAction || ev.Action != title("missed") {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestReconnectWithSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{StateEntries: 2})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA, sessionB}})
		w := c.Watch()
		defer w.Close()
		drain(t, w, 2)
		h.net.cut()
		<-c.Disconnected()
		for range 5 {
			h.publish(sessionA, title("missed"))
		}
		_ = h.log.Update(func(tx *channels.Tx) error { tx.Remove(sessionB); return nil })
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := drain(t, w, 2)
		if diff := cmp.Diff([]string{"snapshot " + sessionA, "gone " + sessionB}, kindsOf(events)); diff != "" {
			t.Error(diff)
		}
		wantSame(t, h, c, sessionA)
	})
}

// A restarted host does not know the client and can count from the beginning: the
// client initializes on the same socket, with the same subscriptions.
func TestReconnectToAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{FirstSeq: 1000})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA, "ahp-session:/mine"}})
		must(client.Call(t.Context(), c, session.CreateSession, session.CreateSessionParams{Channel: "ahp-session:/mine"}))
		must(c.Subscribe(t.Context(), "ahp-session:/mine"))
		w := c.Watch()
		defer w.Close()
		drain(t, w, 2)
		h.stop()
		<-c.Disconnected()
		if ce, ok := errors.AsType[*client.Closed](c.Err()); !ok || ce.Code != 1001 || !ce.Remote {
			t.Errorf("err %v", c.Err())
		}
		if err := c.Reconnect(t.Context()); err == nil {
			t.Fatal("connected to nothing")
		}
		h.start(channels.Options{})
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := drain(t, w, 2)
		if diff := cmp.Diff([]string{"snapshot " + sessionA, "gone ahp-session:/mine"}, kindsOf(events)); diff != "" {
			t.Error(diff)
		}
		if err := c.Dispatch(t.Context(), sessionA, title("below 1000")); err != nil {
			t.Error(err)
		}
		wantSame(t, h, c, sessionA)
	})
}

func TestReconnectOfALiveConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		lost := c.Disconnected()
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-lost
		select {
		case <-c.Disconnected():
			t.Error("not connected")
		default:
		}
		wantSame(t, h, c, sessionA)
	})
}

func TestReconnectGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		h.stop()
		f := newFake(t, h.net)
		f.silent = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantErr(t, c.Reconnect(ctx), context.DeadlineExceeded)
		if s, ok := c.Session(sessionA); !ok || s.Title != "Test" {
			t.Error("a failed reconnect changed the mirror")
		}
	})
}

// After a replay that cannot be applied, the client does not resume again.
func TestReconnectWithABrokenReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
		f.answer = func(method string, _ ahp.Value) any {
			if method == ahp.Reconnect.Name {
				return ahp.Value(`{"type":"replay","missing":[],"actions":[` + envelope(12, newTitle) + `,` + envelope(11, newTitle) + `]}`)
			}
			return nil
		}
		err := c.Reconnect(t.Context())
		if _, ok := errors.AsType[*client.ProtocolError](err); !ok {
			t.Errorf("err %v", err)
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"initialize", "reconnect", "initialize"}, f.methods()); diff != "" {
			t.Error(diff)
		}
		if s, _ := c.Session(sessionA); s.Title != "T" {
			t.Errorf("title %q", s.Title)
		}
	})
}

// A channel that is unsubscribed during a reconnect stays unsubscribed.
func TestUnsubscribeDuringReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
		f.answer = func(method string, _ ahp.Value) any {
			if method == ahp.Reconnect.Name {
				c.Unsubscribe(sessionA)
				return ahp.ReconnectResult{Type: ahp.ReconnectSnapshot, Snapshots: []ahp.Snapshot{{Resource: sessionA, State: ahp.Value(fakeState), FromSeq: 12}}}
			}
			return nil
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, ok := c.State(sessionA); ok || !slices.Contains(f.methods(), "unsubscribe") {
			t.Errorf("followed: %v; the host received %v", ok, f.methods())
		}
	})
}
