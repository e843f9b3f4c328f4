package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
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

// far dials over a network on which what the client sends takes 20 ms.
func far(n *network) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := n.Dial(ctx, network, addr)
		return farConn{nc}, err
	}
}

type farConn struct{ net.Conn }

func (c farConn) Write(b []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return c.Conn.Write(b)
}

// drain asks the client of the newest connection to move, as the host does when a relay drains.
func (h *testHost) drain() (moves bool) {
	h.t.Helper()
	var newest func(func(bool))
	for len(h.drains) > 0 {
		newest = <-h.drains
	}
	newest(func(is bool) { moves = is })
	return moves
}

// echoes opens a canvas that sends a View a thousand messages, one each millisecond, from the View's
// first message on. Each follows a change of the session's title.
func (h *testHost) echoes() canvas.OpenCanvas {
	h.t.Helper()
	_, err := h.canvases.Register(canvas.Extension{ID: "echoes"}, canvas.Func(func(_ context.Context, _ canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Title: "Echoes", Instance: &canvas.App{OnMessage: func(ctx context.Context, from canvas.View, _ ahp.Value) {
			for n := range 1000 {
				h.publish(sessionA, title(fmt.Sprint(n)))
				if err := hd.PostTo(ctx, from, ahp.MustMarshal(n)); err != nil {
					h.t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		}}}, nil
	}), canvas.Declaration{CanvasID: "echoes", DisplayName: "Echoes", Description: "Echoes."})
	if err != nil {
		h.t.Fatal(err)
	}
	return must(h.canvases.Open(h.t.Context(), canvas.OpenArgs{Session: sessionA, CanvasID: "echoes", InstanceID: "e"}))
}

// A client that moves receives everything once and in order, also what is for its connection
// alone. Neither a call nor a dispatch of that time fails.
func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		o := h.echoes()
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA, o.Channel}, Backoff: &seconds{}, NetDial: far(h.net)})
		w := c.Watch()
		next(t, w)
		next(t, w)
		lost := c.Disconnected()
		if err := c.Message(t.Context(), o.Channel, "begin"); err != nil {
			t.Fatal(err)
		}
		if !h.drain() {
			t.Fatal("the client does not move")
		}
		ended := time.Now().Add(1500 * time.Millisecond)
		for n := 0; time.Now().Before(ended); n++ {
			uri := fmt.Sprint("ahp-session:/new", n)
			if _, err := client.Call(t.Context(), c, session.CreateSession, session.CreateSessionParams{Channel: uri}); err != nil {
				t.Fatal(err)
			}
			if err := c.Dispatch(t.Context(), sessionB, title("x")); !errors.As(err, new(*client.Refused)) {
				t.Fatal(err) // the client is not subscribed, so the host refuses it: an answer
			}
		}
		synctest.Wait()
		var titles, messages []string
		for _, ev := range queued(w) {
			switch a := ev.Action.(type) {
			case session.TitleChanged:
				if ev.Channel == sessionA {
					titles = append(titles, a.Title)
				}
			case canvas.Message:
				if ev.Origin == nil {
					messages = append(messages, string(a.Payload))
				}
			}
			if ev.Kind == client.EventSnapshot {
				t.Errorf("a snapshot of %s", ev.Channel)
			}
		}
		want := make([]string, 1000)
		for n := range want {
			want[n] = fmt.Sprint(n)
		}
		if diff := cmp.Diff(want, titles); diff != "" {
			t.Errorf("titles: %s", diff)
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("messages: %s", diff)
		}
		select {
		case <-lost:
		default:
			t.Error("the client did not leave the first connection")
		}
		if c.Err() != nil {
			t.Error(c.Err())
		}
	})
}

// If the old connection ends before everything on it has arrived, the client reconnects: another
// connection of a View says that messages can be missing.
func TestMoveFromAnEndingConnection(t *testing.T) {
	for after := time.Duration(0); after < 400*time.Millisecond; after += 7 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, channels.Options{})
			c := h.dial(t, client.Options{Subscriptions: []string{sessionA}, Backoff: client.NewBackoff(), NetDial: far(h.net)})
			old := h.net.takeWires()
			h.drain()
			time.Sleep(after)
			h.publish(sessionA, title("before"))
			cutAll(old)
			h.publish(sessionA, title("after"))
			time.Sleep(10 * time.Second)
			if s, _ := c.Session(sessionA); s.Title != "after" || c.Err() != nil {
				t.Errorf("cut after %s: %q, %v", after, s.Title, c.Err())
			}
			if err := c.Dispatch(t.Context(), sessionA, title("own")); err != nil {
				t.Errorf("cut after %s: %v", after, err)
			}
		})
	}
}

// A client that cannot open another connection stays, and moves later.
func TestMoveLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		var refusals atomic.Int64 // still to come
		c := h.dial(t, client.Options{Subscriptions: []string{sessionA}, Backoff: &seconds{}, NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if refusals.Add(-1) >= 0 {
				return nil, errors.New("no edge takes connections")
			}
			return h.net.Dial(ctx, network, addr)
		}})
		lost := c.Disconnected()
		refusals.Store(3)
		h.drain()
		time.Sleep(500 * time.Millisecond) // two attempts
		if err := c.Dispatch(t.Context(), sessionA, title("meanwhile")); err != nil || refusals.Load() > 2 {
			t.Errorf("while it cannot move: %v, %d", err, refusals.Load())
		}
		time.Sleep(10 * time.Second)
		select {
		case <-lost:
		default:
			t.Error("it did not move")
		}
		if err := c.Dispatch(t.Context(), sessionA, title("later")); err != nil {
			t.Error(err)
		}
	})
}

// What was asked before the move is answered on the old connection, which is kept for it.
func TestMoveKeepsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c, opened := slowProvider(t)
		done := make(chan error, 1)
		go func() {
			_, err := h.canvases.Open(t.Context(), canvas.OpenArgs{Session: sessionA, CanvasID: "slow", InstanceID: "s"})
			done <- err
		}()
		lost := c.Disconnected()
		synctest.Wait()
		h.drain()
		time.Sleep(5 * time.Second) // the client has moved
		select {
		case <-lost:
			t.Error("the old connection ended before its request was answered")
		case err := <-done:
			t.Errorf("the open ended: %v", err)
		default:
		}
		if err := c.Dispatch(t.Context(), sessionA, title("meanwhile")); err != nil {
			t.Error(err)
		}
		close(opened)
		if err := <-done; err != nil {
			t.Error(err)
		}
		<-lost
		if c.Err() != nil {
			t.Error(c.Err())
		}
	})
}

// slowProvider returns a client that provides a canvas, which opens when the channel is closed.
func slowProvider(t *testing.T) (*testHost, *client.Client, chan struct{}) {
	h, opened := newHost(t, channels.Options{}), make(chan struct{})
	c := h.dial(t, client.Options{ClientID: "desk", Subscriptions: []string{sessionA}, Backoff: &seconds{}})
	p := canvas.Func(func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
		<-opened
		return canvas.Opened{Title: "Slow", Instance: &canvas.App{}}, nil
	})
	if err := c.Provide(t.Context(), sessionA, "Desk", p, canvas.Declaration{CanvasID: "slow", DisplayName: "Slow", Description: "Slow."}); err != nil {
		t.Fatal(err)
	}
	return h, c, opened
}
