package bridgecanvas_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestBrowserPerson: a View with an agent's token decides nothing, one with a person's
// does.
func TestBrowserPerson(t *testing.T) {
	t.Parallel()
	bridge := ab.New(ab.Options{})
	t.Cleanup(bridge.Close)
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := bridgecanvas.New(bridgecanvas.Options{Bridge: bridge})
	t.Cleanup(func() { _ = p.Close() })
	if _, err := h.Add(p); err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	open, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: bridgecanvas.BrowserID, InstanceID: "all"})
	if err != nil {
		t.Fatal(err)
	}
	w := &tab{id: "s"}
	w.conn = bridge.Attach(w, shopPage)
	w.conn.Receive([]byte(`{"type":"runtime_ready","runtime_id":"s","url":"https://shop.example/",` + shopTools + `}`))
	person, agent := h.Tokens()
	say := func(token, payload string) {
		c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		refused := make(chan struct{}, 8)
		watch := c.Watch(open.Channel)
		t.Cleanup(watch.Close)
		go func() {
			for ev, err := range watch.All(t.Context()) {
				if err != nil {
					return
				}
				if m, ok := ev.Action.(canvas.Message); ok && strings.Contains(string(m.Payload), `"actions":"refused"`) {
					refused <- struct{}{}
				}
			}
		}()
		if _, err := c.Subscribe(t.Context(), open.Channel); err != nil {
			t.Fatal(err)
		}
		if err := c.Message(t.Context(), open.Channel, ahp.Value(payload)); err != nil {
			t.Fatal(err)
		}
		if token == agent {
			select {
			case <-refused:
			case <-time.After(30 * time.Second):
				t.Error("the agent's View was not refused")
			}
		}
	}
	for _, m := range []string{"allow", "refuse", "disconnect"} {
		say(agent, `{"actions":"`+m+`","runtime_id":"s"}`)
		if r, _ := bridge.Runtime("s"); r.State != ab.Waiting {
			t.Errorf("an agent's %s made it %s", m, r.State)
		}
	}
	say(person, `{"actions":"allow","runtime_id":"s"}`)
	for end := time.Now().Add(30 * time.Second); ; <-time.After(10 * time.Millisecond) {
		if r, _ := bridge.Runtime("s"); r.State == ab.Ready {
			return
		}
		if time.Now().After(end) {
			t.Fatal("a person's allow has no effect")
		}
	}
}

// TestBrowserOtherCard: a card of one page decides about that page only.
func TestBrowserOtherCard(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		b.connect(anyTab, "mine", "https://a.example/")
		o, err := b.openPage("p", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		b.connect(shopPage, "other", "https://shop.example/")
		v := b.Connect("person")
		v.Subscribe(o.Channel)
		v.Say(o.Channel, `{"actions":"allow","runtime_id":"other"}`)
		synctest.Wait()
		if r, _ := b.bridge.Runtime("other"); r.State != ab.Waiting {
			t.Errorf("another card's page is %s", r.State)
		}
		v.Say(o.Channel, `{"actions":"disconnect","runtime_id":"mine"}`)
		synctest.Wait()
		if got := b.availability("p"); got != string(session.Stale) {
			t.Errorf("the card is %s", got)
		}
	})
}

// TestBrowserManyStale: bindings of 1,024 stale cards are kept, and the oldest goes.
func TestBrowserManyStale(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r", "https://a.example/")
		const limit = 1024
		ctx := t.Context()
		p := bridgecanvas.New(bridgecanvas.Options{Bridge: b.bridge})
		defer p.Close()
		kept := 0
		for n := range limit + 1 {
			var h recordingKeeper
			handle := canvas.MakeHandle(&h, "s", fmt.Sprint(n))
			h.kept = &kept
			if _, err := p.Open(ctx, canvas.OpenRequest{Session: "s", CanvasID: bridgecanvas.PageID, InstanceID: fmt.Sprint(n), Input: ahp.Value(`{}`)}, &handle); err != nil {
				t.Fatal(err)
			}
		}
		w.conn.Close()
		b.connect(anyTab, "r", "https://a.example/")
		if kept != limit {
			t.Errorf("%d cards were opened again, want %d", kept, limit)
		}
	})
}

// recordingKeeper is the side of a host that counts reopened cards.
type recordingKeeper struct{ kept *int }

func (*recordingKeeper) Context() context.Context                    { return context.Background() }
func (*recordingKeeper) Update(context.Context, canvas.Update) error { return nil }
func (*recordingKeeper) Post(context.Context, canvas.Post) error     { return nil }
func (*recordingKeeper) Save(context.Context, []byte) error          { return nil }
func (*recordingKeeper) Raise(ahp.Value) error                       { return nil }

func (k *recordingKeeper) SetReachable(reachable bool) {
	if reachable {
		*k.kept++
	}
}
