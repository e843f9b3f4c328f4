package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// step is one thing that happens in a random run.
type step struct {
	Op  string
	Who int // which client
	On  int // which channel
	N   int
}

var steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
	return step{
		Op: rapid.SampledFrom([]string{"title", "title", "chat", "tools", "open", "close", "post", "dispatch", "dispatch", "refused",
			"message", "subscribe", "subscribe", "unsubscribe", "cut", "cutLater", "reconnect", "recreate", "flood", "restart"}).Draw(t, "op"),
		Who: rapid.IntRange(0, 2).Draw(t, "who"),
		On:  rapid.IntRange(0, 3).Draw(t, "on"),
		N:   rapid.IntRange(0, 400).Draw(t, "n"),
	}
}), 1, 40)

// After any traffic, lost connections and resumes, the mirror of every client equals
// the host's state, and its watch received the events in order.
func TestMirrorIsTheHostsState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := steps.Draw(rt, "plan")
		var failed error
		synctest.Test(t, func(t *testing.T) { failed = newRun(t).run(plan) })
		if failed != nil {
			rt.Fatal(failed)
		}
	})
}

type run struct {
	t       *testing.T
	h       *testHost
	clients []*modelClient
}

// modelClient is a client whose connection a test can cut.
type modelClient struct {
	*client.Client
	net   *network
	wire  *ahptest.Conn
	sees  bool // declared the capability
	watch *client.Watch

	seen     map[string]client.Event // the newest event of each channel
	received map[string]bool         // payloads
}

func (m *modelClient) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := m.net.Net.Dial(ctx, network, addr)
	if err == nil {
		m.wire = nc.(*ahptest.Conn)
	}
	return nc, err
}

var smallRings = channels.Options{StateEntries: 30, MessageEntries: 10}

func newRun(t *testing.T) *run {
	r := &run{t: t, h: newHost(t, smallRings)}
	for i := range 3 {
		m := &modelClient{net: r.h.net, sees: i > 0, seen: map[string]client.Event{}, received: map[string]bool{}}
		opts := client.Options{ClientID: fmt.Sprint("client-", i), NetDial: m.dial, Subscriptions: []string{sessionA}}
		if !m.sees {
			opts.Capabilities = ahp.ClientCapabilities{}
		}
		m.Client = r.h.dial(t, opts)
		m.watch = m.Watch()
		r.clients = append(r.clients, m)
	}
	return r
}

func (r *run) run(plan []step) error {
	for i, s := range plan {
		r.do(i, s)
		for _, m := range r.clients {
			if err := m.read(); err != nil {
				return fmt.Errorf("step %d %+v: %w", i, s, err)
			}
		}
	}
	synctest.Wait() // a cut is not noticed at once
	for _, m := range r.clients {
		if m.Err() != nil {
			if err := m.Reconnect(r.t.Context()); err != nil {
				return fmt.Errorf("at the end: %w", err)
			}
		}
	}
	synctest.Wait()
	for _, m := range r.clients {
		if err := errors.Join(m.read(), r.compare(m)); err != nil {
			return fmt.Errorf("client %s: %w", m.ID(), err)
		}
	}
	return nil
}

func (r *run) channel(n int) string {
	if n < 2 {
		return []string{sessionA, sessionB}[n]
	}
	open, _ := r.h.canvases.ListOpen(sessionA)
	for _, o := range open {
		if o.InstanceID == fmt.Sprint("n", n) {
			return o.Channel
		}
	}
	return "ahp-canvas:/none"
}

func (r *run) do(i int, s step) {
	m, ctx, h := r.clients[s.Who], r.t.Context(), r.h
	unique := fmt.Sprintf("%q", fmt.Sprint("m", i))
	switch s.Op {
	case "title":
		h.publish(r.channel(s.On%2), title(fmt.Sprint(i)))
	case "chat":
		h.publish(sessionA, session.ChatAdded{Summary: session.ChatSummary{Resource: fmt.Sprint(s.N % 5), Title: fmt.Sprint(i)}})
	case "tools":
		h.publish(sessionA, session.ServerToolsChanged{Tools: []session.ToolDefinition{{Name: fmt.Sprint(i)}}})
	case "open":
		h.open(fmt.Sprint("n", 2+s.On%2))
	case "close":
		_ = h.canvases.Close(ctx, sessionA, fmt.Sprint("n", 2+s.On%2))
	case "post":
		uri := r.channel(2 + s.On%2)
		_ = h.log.Update(func(tx *channels.Tx) error { return tx.Append(uri, canvas.Message{Payload: ahp.Value(unique)}) })
	case "dispatch":
		_, _ = m.DispatchAsync(r.channel(s.On%2), title(fmt.Sprint(i)))
	case "refused":
		_, _ = m.DispatchAsync(r.channel(s.On%2), session.SessionReady{})
	case "message":
		_, _ = m.DispatchAsync(r.channel(2+s.On%2), canvas.Message{Payload: ahp.Value(unique)})
	case "subscribe":
		_, _ = m.Subscribe(ctx, r.channel(s.On))
	case "unsubscribe":
		m.Unsubscribe(r.channel(s.On))
	case "cut":
		m.wire.CutAfter(0)
		_, _ = m.wire.Write([]byte{0})
	case "cutLater":
		m.wire.CutAfter(s.N)
	case "reconnect":
		_ = m.Reconnect(ctx)
	case "recreate":
		_ = h.log.Update(func(tx *channels.Tx) error {
			state, _ := tx.State(sessionB)
			tx.Remove(sessionB)
			return tx.Create(sessionB, "", state)
		})
	case "flood":
		for j := range s.N / 8 {
			h.publish(sessionA, title(fmt.Sprint(i, "/", j)))
		}
	case "restart":
		h.stop()
		h.start(smallRings)
	}
	if s.N%3 > 0 {
		synctest.Wait() // else the next step comes into what this one started
	}
}

// read takes the events of the watch: within a channel's lifetime the numbers of its
// state changes increase, and no message arrives twice.
func (m *modelClient) read() error {
	for {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		ev, err := m.watch.Next(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		last, known := m.seen[ev.Channel]
		msg, isMessage := ev.Action.(canvas.Message)
		switch {
		case isMessage && m.received[string(msg.Payload)]:
			return fmt.Errorf("message %s arrived twice", msg.Payload)
		case isMessage:
			m.received[string(msg.Payload)] = true // a snapshot can overtake it
		case ev.Kind == client.EventGone:
			delete(m.seen, ev.Channel)
			continue
		case ev.Kind == client.EventAction && !known:
			return fmt.Errorf("an action on a channel without a snapshot: %+v", ev)
		case ev.Kind == client.EventAction && ev.Seq <= last.Seq:
			return fmt.Errorf("%d after %d: %+v", ev.Seq, last.Seq, ev)
		case ev.Kind == client.EventRefused:
			continue
		}
		m.seen[ev.Channel] = ev
	}
}

// compare compares the mirror and the watch with the host.
func (r *run) compare(m *modelClient) error {
	for _, uri := range []string{sessionA, sessionB, r.channel(2), r.channel(3)} {
		got, ok := m.State(uri)
		var want channels.State
		var subscribed bool
		r.h.log.View(func(tx *channels.ReadTx) {
			want, _ = tx.State(uri)
			subscribed = tx.ClientSubscribed(m.ID(), uri)
		})
		if subscribed && !ok {
			return fmt.Errorf("%s: the client is subscribed at the host", uri)
		}
		if !subscribed {
			continue // not followed, or the channel ended: the host does not notify the client
		}
		if s, ok := want.(session.State); ok && !m.sees {
			s.Canvases, s.OpenCanvases = nil, nil
			want = s
		}
		if !ahp.Equal(ahp.MustMarshal(want), ahp.MustMarshal(got.State)) {
			return fmt.Errorf("%s: the mirror has\n%s\nand the host\n%s", uri, ahp.MustMarshal(got.State), ahp.MustMarshal(want))
		}
		if last := m.seen[uri]; !ahp.Equal(ahp.MustMarshal(last.State), ahp.MustMarshal(got.State)) {
			return fmt.Errorf("%s: the watch ended with\n%s\nand the mirror has\n%s", uri, ahp.MustMarshal(last.State), ahp.MustMarshal(got.State))
		}
	}
	return nil
}
