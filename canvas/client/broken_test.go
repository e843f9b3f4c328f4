package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func envelope(seq int, action string) string {
	return fmt.Sprintf(`{"channel":%q,"action":%s,"serverSeq":%d}`, sessionA, action, seq)
}

const newTitle = `{"type":"session/titleChanged","title":"new"}`

// The client closes the connection of a host that breaks a rule on which the mirror
// relies, and then resumes from snapshots.
func TestBrokenHost(t *testing.T) {
	for name, frames := range map[string][]string{
		"serverSeq stands still":       {envelope(11, newTitle), envelope(11, newTitle)},
		"serverSeq falls":              {envelope(12, newTitle), envelope(11, newTitle)},
		"serverSeq below the snapshot": {envelope(10, newTitle)},
		"serverSeq of a refusal falls": {envelope(12, newTitle), `{"channel":"x","action":{"type":"y"},"serverSeq":12,"rejectionReason":"no"}`},
		"serverSeq of a stranger's":    {envelope(12, newTitle), `{"channel":"ahp-session:/not-followed","action":{"type":"session/ready"},"serverSeq":12}`},
		"no serverSeq":                 {fmt.Sprintf(`{"channel":%q,"action":%s}`, sessionA, newTitle)},
		"an action without a type":     {envelope(11, `{"title":"x"}`)},
		"an action of another shape":   {envelope(11, `{"type":"session/titleChanged","title":7}`)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{}
				f := newFake(t, n)
				c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
				for _, frame := range frames {
					f.push(frame)
				}
				f.push(envelope(99, `{"type":"session/titleChanged","title":"after the break"}`))
				select {
				case <-c.Disconnected():
				case <-time.After(time.Minute):
					t.Fatal("the connection was not closed")
				}
				if _, ok := errors.AsType[*client.ProtocolError](c.Err()); !ok {
					t.Errorf("err %v", c.Err())
				}
				if s, _ := c.Session(sessionA); s.Title == "after the break" {
					t.Error("the mirror still changes")
				}
				if err := c.Reconnect(t.Context()); err != nil {
					t.Fatal(err)
				}
				if calls := f.methods(); slices.Contains(calls, "reconnect") || c.Err() != nil {
					t.Errorf("calls %v, err %v", calls, c.Err())
				}
				if s, _ := c.Session(sessionA); s.Title != "T" {
					t.Errorf("title %q after a fresh start", s.Title)
				}
			})
		})
	}
}

func TestIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
		w := c.Watch()
		defer w.Close()
		next(t, w)
		f.push(envelope(11, `{"type":"session/fromTheFuture","x":1}`))
		f.push(`{"channel":"ahp-session:/a","action":{"type":"session/titleChanged","title":7},"serverSeq":12,"rejectionReason":"no"}`)
		f.push(`{"channel":"ahp-session:/not-followed","action":` + newTitle + `,"serverSeq":13}`)
		f.push(envelope(20, newTitle)) // gaps are legal
		if ev := next(t, w); ev.Type != "session/fromTheFuture" || ev.Action != nil || ev.State.(session.State).Title != "T" {
			t.Errorf("event %+v", ev)
		}
		if ev := next(t, w); ev.Kind != client.EventRefused {
			t.Errorf("event %+v", ev)
		}
		if ev := next(t, w); ev.Seq != 20 || ev.State.(session.State).Title != "new" {
			t.Errorf("event %+v", ev)
		}
	})
}

// Messages before the result of the handshake do not reach the mirror.
func TestBeforeTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		asked := make(chan error, 1)
		f.before = func(p *peer.Peer) {
			_ = p.Notify(ahp.ActionNotification.Name, ahp.Value(envelope(50, newTitle)))
			go func() {
				_, err := p.Call(t.Context(), canvas.CanvasOpen.Name, nil)
				asked <- err
			}()
			synctest.Wait()
		}
		c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
		if err := <-asked; !errors.Is(err, &ahp.Error{Code: ahp.CodeInvalidRequest}) {
			t.Errorf("a request was answered with %v", err)
		}
		f.push(envelope(11, `{"type":"session/isReadChanged","isRead":true}`)) // 50 was not counted
		synctest.Wait()
		if s, _ := c.Session(sessionA); s.Title != "T" || s.Status&session.StatusIsRead == 0 || c.Err() != nil {
			t.Errorf("title %q, status %d, %v", s.Title, s.Status, c.Err())
		}
	})
}

// Envelopes directly after the result of the handshake are applied to its snapshots,
// however long those take to decode.
func TestEnvelopesAfterTheHandshake(t *testing.T) {
	n := &network{}
	f := newFake(t, n)
	chats := strings.Repeat(`{"resource":"r","title":"t","status":1,"modifiedAt":""},`, 5000)
	f.state = strings.Replace(fakeState, `"chats":[]`, `"chats":[`+strings.TrimSuffix(chats, ",")+`]`, 1)
	f.after = []string{envelope(11, `{"type":"session/isReadChanged","isRead":true}`), envelope(12, newTitle)}
	f.answer = func(method string, _ ahp.Value) any {
		if method != ahp.Reconnect.Name {
			return nil
		}
		return ahp.ReconnectResult{Type: ahp.ReconnectSnapshot, Snapshots: []ahp.Snapshot{{Resource: sessionA, State: ahp.Value(f.state), FromSeq: 10}}}
	}
	c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
	for range 5 {
		w := c.Watch()
		for ev := next(t, w); ev.Seq < 12; {
			ev = next(t, w)
		}
		w.Close()
		if s, _ := c.Session(sessionA); s.Title != "new" || s.Status != session.StatusIdle|session.StatusIsRead || c.Err() != nil {
			t.Fatalf("title %q, status %d, err %v", s.Title, s.Status, c.Err())
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A dispatch ends only with its own echo.
func TestEchoOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		c := dial(t, n, client.Options{ClientID: "me", Subscriptions: []string{sessionA}})
		d := must(c.DispatchAsync(sessionA, session.TitleChanged{Title: "x"}))
		echo := func(seq int, who string, clientSeq int) {
			f.push(fmt.Sprintf(`{"channel":%q,"action":%s,"serverSeq":%d,"origin":{"clientId":%q,"clientSeq":%d}}`, sessionA, newTitle, seq, who, clientSeq))
			synctest.Wait()
		}
		echo(11, "another", 1)
		echo(12, "me", 2)
		select {
		case <-d.Done():
			t.Error("ended by the echo of another dispatch")
		default:
		}
		echo(13, "me", 1)
		if err := d.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRequestsOfTheHostAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		c := dial(t, n, client.Options{})
		_, err := f.peers[0].Call(t.Context(), "canvasOpen", ahp.Value(`{}`))
		wantErr(t, err, ahp.ErrMethodNotFound)
		if c.Err() != nil {
			t.Error(c.Err())
		}
	})
}

// Calls in flight fail at once when the connection is lost, and are not repeated on
// the next one.
func TestInFlightWhenLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		c := dial(t, n, client.Options{Subscriptions: []string{sessionA}})
		called, subscribed := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := client.Call(t.Context(), c, session.DisposeSession, ahp.ChannelParams{Channel: sessionA})
			called <- err
		}()
		go func() {
			_, err := c.Subscribe(t.Context(), sessionB)
			subscribed <- err
		}()
		d := must(c.DispatchAsync(sessionA, title("x")))
		synctest.Wait()
		began := time.Now()
		n.cut()
		for what, err := range map[string]error{"call": <-called, "subscribe": <-subscribed, "dispatch": d.Wait(t.Context())} {
			if _, ok := errors.AsType[*client.Closed](err); !ok {
				t.Errorf("%s: %v", what, err)
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("after %s", d)
		}
		<-c.Disconnected()
		if _, err := client.Call(t.Context(), c, ahp.Ping, ahp.PingParams{}); err == nil {
			t.Error("a call without a connection")
		}
		f.answer = func(method string, _ ahp.Value) any {
			if method == ahp.Reconnect.Name {
				return ahp.Errorf(ahp.CodeNotFound, "who?")
			}
			return nil
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		count := map[string]int{}
		for _, m := range f.methods() {
			count[m]++
		}
		if count["disposeSession"] != 1 || count["dispatchAction"] != 1 || count["subscribe"] != 1 || count["initialize"] != 2 {
			t.Errorf("the host received %v", count)
		}
	})
}

// A request that is read as its connection ends never runs. Requests of the next
// connection do not wait for it.
func TestRequestsAfterALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		f.state = `{"provider":"p","title":"T","status":1,"lifecycle":"ready","activeClients":[],"chats":[],"openCanvases":[
			{"channel":"ahp-canvas:/x","instanceId":"x","canvasId":"c","extensionId":"client:desk","availability":"ready"}]}`
		ask := func() error {
			f.mu.Lock()
			p := f.peers[len(f.peers)-1]
			f.mu.Unlock()
			_, err := p.CallWithin(t.Context(), time.Minute, canvas.CanvasClose.Name, canvas.CanvasCloseParams{Channel: sessionA, InstanceID: "x"})
			return err
		}
		var asked sync.WaitGroup
		lost := false
		f.answer = func(method string, _ ahp.Value) any {
			switch {
			case method != ahp.Reconnect.Name:
				return nil
			case lost:
				return ahp.Errorf(ahp.CodeInvalidParams, "start again")
			}
			lost = true
			asked.Go(func() { _ = ask() })
			synctest.Wait() // the client has read it, and waits for the answer to its handshake
			n.cut()
			return nil
		}
		c := dial(t, n, client.Options{ClientID: "desk", Subscriptions: []string{sessionA}})
		unanswered, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantErr(t, c.Provide(unanswered, sessionA, "Desk", canvas.Func(nil), canvas.Declaration{CanvasID: "editor"}), context.DeadlineExceeded)
		if err := c.Reconnect(t.Context()); err == nil {
			t.Fatal("the connection was not lost")
		}
		asked.Wait()
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := ask(); err != nil {
			t.Fatalf("a request over the next connection: %v", err)
		}
	})
}
