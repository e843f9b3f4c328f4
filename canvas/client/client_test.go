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
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{ahp.RootURI, sessionA, "ahp-session:/none"}})
		if c.Version() != "0.6.0" || c.Server().Name != "test host" || c.ID() == "" || c.Err() != nil {
			t.Errorf("version %s, server %v, id %q, err %v", c.Version(), c.Server(), c.ID(), c.Err())
		}
		if root, ok := c.Root(); !ok || len(root.Agents) != 1 {
			t.Errorf("root = %v %v", root, ok)
		}
		if s, ok := c.Session(sessionA); !ok || s.Title != "Test" || len(s.Canvases) != 1 {
			t.Errorf("session = %v %v", s, ok)
		}
		if _, ok := c.State("ahp-session:/none"); ok {
			t.Error("a channel that the host does not have is followed")
		}
		if _, ok := c.Canvas(sessionA); ok {
			t.Error("a session is a canvas")
		}
	})
}

func TestDialRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		_, err := client.Dial(t.Context(), testURL, client.Options{NetDial: h.net.Dial, Token: "wrong"})
		if he, ok := errors.AsType[*ws.HandshakeError](err); !ok || he.Status != 401 {
			t.Errorf("a wrong token: %v", err)
		}
		_, err = client.Dial(t.Context(), testURL, client.Options{NetDial: h.net.Dial, Token: testToken, Versions: []string{"9.0.0"}})
		wantErr(t, err, &ahp.Error{Code: ahp.CodeUnsupportedProtocolVersion})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = client.Dial(ctx, testURL, client.Options{NetDial: h.net.Dial, Token: testToken})
		wantErr(t, err, context.Canceled)
	})
}

func TestWithoutTheCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		o := h.open("n1")
		c := h.dial(t, client.Options{Capabilities: ahp.ClientCapabilities{}, Subscriptions: []string{sessionA}})
		if s, _ := c.Session(sessionA); s.Canvases != nil || s.OpenCanvases != nil {
			t.Errorf("sees the surface: %v %v", s.Canvases, s.OpenCanvases)
		}
		_, err := c.Subscribe(t.Context(), o.Channel)
		wantErr(t, err, ahp.ErrNotFound)
	})
}

func TestMirrorFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		w := c.Watch(sessionA)
		defer w.Close()
		first := next(t, w)
		h.publish(sessionA, title("one"), session.ServerToolsChanged{Tools: []session.ToolDefinition{{Name: "x"}}}, title("two"))
		h.publish(sessionB, title("not followed"))

		var got []string
		seq := first.Seq
		for range 3 {
			ev := next(t, w)
			got = append(got, fmt.Sprint(ev.Kind, " ", ev.Type, " ", ev.State.(session.State).Title))
			if ev.Seq <= seq || ev.Origin != nil || ev.Channel != sessionA || ev.Action.ActionType() != ev.Type {
				t.Errorf("event %+v after seq %d", ev, seq)
			}
			seq = ev.Seq
		}
		want := []string{"action session/titleChanged one", "action session/serverToolsChanged one", "action session/titleChanged two"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if first.Kind != client.EventSnapshot || first.State.(session.State).Title != "Test" {
			t.Errorf("the watch began with %+v", first)
		}
		host, _ := h.log.State(sessionA)
		if snap, _ := c.State(sessionA); snap.Seq != seq || cmp.Diff(ahp.MustMarshal(host), ahp.MustMarshal(snap.State)) != "" {
			t.Errorf("the mirror at %d is not the host's state: %v", snap.Seq, snap.State)
		}
		synctest.Wait()
		if snap, ok := c.State(sessionB); ok {
			t.Errorf("session b is followed: %v", snap)
		}
	})
}

func TestNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{ahp.RootURI}})
		w := c.Watch(ahp.RootURI)
		defer w.Close()
		next(t, w)
		if _, err := client.Call(t.Context(), c, session.CreateSession, session.CreateSessionParams{Channel: "ahp-session:/new"}); err != nil {
			t.Fatal(err)
		}
		ev := next(t, w)
		var p session.SessionAddedParams
		if ev.Kind != client.EventNotice || ev.Type != session.SessionAdded.Name || ahp.Unmarshal(ev.Raw, &p) != nil || p.Summary.Resource != "ahp-session:/new" {
			t.Errorf("event %+v", ev)
		}
		list := must(client.Call(t.Context(), c, session.ListSessions, session.ListSessionsParams{Channel: ahp.RootURI}))
		if len(list.Items) != 3 {
			t.Errorf("%d sessions", len(list.Items))
		}
	})
}

func TestCallErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{})
		_, err := client.Call(t.Context(), c, session.DisposeSession, ahp.ChannelParams{Channel: "ahp-session:/none"})
		wantErr(t, err, ahp.ErrSessionNotFound)
		_, err = client.Call(t.Context(), c, ahp.NewMethod[ahp.None, ahp.None]("x-none", ahp.ClientToHost), ahp.None{})
		if _, ok := errors.AsType[*ahp.Error](err); !ok {
			t.Errorf("an unknown method: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}})
		w := c.Watch()
		d := must(c.DispatchAsync("ahp-session:/none", title("x")))
		lost := c.Disconnected()
		c.Close()
		c.Close()
		<-lost
		if err := d.Wait(t.Context()); err == nil {
			t.Error("a dispatch outlived the client")
		}
		next(t, w) // what was queued is still read
		_, err := w.Next(t.Context())
		wantErr(t, err, client.ErrClosed)
		_, err = c.Watch().Next(t.Context())
		wantErr(t, err, client.ErrClosed)
		wantErr(t, c.Err(), client.ErrClosed)
		wantErr(t, c.Reconnect(t.Context()), client.ErrClosed)
		wantErr(t, c.Dispatch(t.Context(), sessionA, title("x")), client.ErrClosed)
		_, err = c.Subscribe(t.Context(), sessionA)
		wantErr(t, err, client.ErrClosed)
		_, err = client.Call(t.Context(), c, ahp.Ping, ahp.PingParams{})
		wantErr(t, err, client.ErrClosed)
		if s, ok := c.Session(sessionA); !ok || s.Title != "Test" {
			t.Error("the mirror was dropped with the connection")
		}
	})
}

func TestCloseEndsAReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{})
		h.stop()
		fake := newFake(t, h.net)
		fake.silent = true
		failed := make(chan error, 1)
		go func() { failed <- c.Reconnect(context.Background()) }()
		synctest.Wait()
		began := time.Now()
		c.Close()
		wantErr(t, <-failed, client.ErrClosed)
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("Close waited %s", d)
		}
	})
}
