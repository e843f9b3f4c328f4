package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestDispatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		a := h.dial(t, client.Options{ClientID: "a", Subscriptions: []string{sessionA}})
		b := h.dial(t, client.Options{ClientID: "b", Subscriptions: []string{sessionA}})
		w := b.Watch(sessionA)
		defer w.Close()
		next(t, w)
		if err := a.Dispatch(t.Context(), sessionA, title("mine")); err != nil {
			t.Fatal(err)
		}
		if s, _ := a.Session(sessionA); s.Title != "mine" {
			t.Errorf("accepted, but the title in the mirror is %q", s.Title)
		}
		if ev := next(t, w); cmp.Diff(&ahp.Origin{ClientID: "a", ClientSeq: 1}, ev.Origin) != "" || ev.Action != title("mine") {
			t.Errorf("the other client sees %+v", ev)
		}
		entry := session.SessionActiveClient{ClientID: "a", Tools: []session.ToolDefinition{}}
		if err := a.Dispatch(t.Context(), sessionA, session.ActiveClientSet{ActiveClient: entry}); err != nil {
			t.Error(err)
		}
		if s, _ := a.Session(sessionA); len(s.ActiveClients) != 1 {
			t.Errorf("active clients %v", s.ActiveClients)
		}
	})
}

func TestDispatchRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{ClientID: "a", Subscriptions: []string{sessionA}})
		w := c.Watch(sessionA)
		defer w.Close()
		next(t, w)
		for _, tc := range []struct {
			channel string
			action  ahp.Action
		}{
			{sessionA, session.SessionReady{}},
			{sessionA, session.ActiveClientRemoved{ClientID: "another"}},
			{sessionB, title("not subscribed")},
			{"ahp-canvas:/none", canvas.Message{Payload: ahp.Null}},
		} {
			err := c.Dispatch(t.Context(), tc.channel, tc.action)
			r, ok := errors.AsType[*client.Refused](err)
			if !ok || r.Reason == "" || r.Channel != tc.channel || r.Type != tc.action.ActionType() || r.Seq == 0 {
				t.Errorf("%s: %v", tc.action.ActionType(), err)
			}
		}
		if ev := next(t, w); ev.Kind != client.EventRefused || ev.Type != "session/ready" || ev.Reason == "" {
			t.Errorf("event %+v", ev)
		}
		if s, _ := c.Session(sessionA); s.Title != "Test" || c.Err() != nil {
			t.Errorf("title %q, err %v", s.Title, c.Err())
		}
	})
}

func TestDispatchUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{})
		began := time.Now()
		wantErr(t, c.Dispatch(t.Context(), "ahp-session:/none", title("x")), client.ErrUnanswered)
		if d := time.Since(began); d != 30*time.Second {
			t.Errorf("timed out after %s", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantErr(t, c.Dispatch(ctx, "ahp-session:/none", title("x")), context.DeadlineExceeded)
	})
}

func TestDispatchLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Dispatches: 2})
		for range 2 {
			must(c.DispatchAsync("ahp-session:/none", title("x")))
		}
		_, err := c.DispatchAsync("ahp-session:/none", title("x"))
		wantErr(t, err, client.ErrBusy)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		must(c.DispatchAsync("ahp-session:/none", title("x")))
		for _, channel := range []string{"ahp-terminal:/1", "", ahp.RootURI} {
			if _, err := c.DispatchAsync(channel, title("x")); err == nil {
				t.Errorf("an action that is not of %q was sent", channel)
			}
		}
	})
}

func TestDispatchOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		w := c.Watch(sessionA)
		defer w.Close()
		next(t, w)
		const n = 300
		for i := range n {
			must(c.DispatchAsync(sessionA, title(fmt.Sprint(i))))
		}
		for i := range n {
			ev := next(t, w)
			if ev.Action != title(fmt.Sprint(i)) || ev.Origin.ClientSeq != int64(i+1) {
				t.Fatalf("event %d is %+v", i, ev)
			}
		}
	})
}

// Notify sends raw actions; watches receive their effect.
func TestNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		w := c.Watch(sessionA)
		defer w.Close()
		next(t, w)
		err := client.Notify(c, ahp.DispatchAction, ahp.DispatchActionParams{Channel: sessionA, ClientSeq: 99, Action: ahp.Value(`{"type":"x-strange"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if ev := next(t, w); ev.Kind != client.EventRefused || ev.Type != "x-strange" || ev.Origin.ClientSeq != 99 {
			t.Errorf("event %+v", ev)
		}
	})
}
