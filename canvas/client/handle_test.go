package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// gauge is an instance that keeps the messages it receives.
type gauge struct {
	canvas.App
	h *canvas.Handle
}

// opensGauges returns a provider of gauges, and the newest one. before, if not nil,
// runs inside Open.
func opensGauges(before func(h *canvas.Handle, g *gauge)) (canvas.Provider, func() *gauge) {
	var mu sync.Mutex
	var newest *gauge
	p := canvas.Func(func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		g := &gauge{h: h}
		if before != nil {
			before(h, g)
		}
		mu.Lock()
		defer mu.Unlock()
		newest = g
		return canvas.Opened{Title: "Gauge", Instance: g}, nil
	})
	return p, func() *gauge {
		mu.Lock()
		defer mu.Unlock()
		return newest
	}
}

var gaugeDeclaration = canvas.Declaration{CanvasID: "gauge", DisplayName: "Gauge", Description: "Measures."}

func providesGauges(t *testing.T, before func(*canvas.Handle, *gauge)) (*testHost, *client.Client, func() *gauge) {
	t.Helper()
	h := newHost(t, channels.Options{})
	c := h.dial(t, client.Options{ClientID: "desk"})
	p, newest := opensGauges(before)
	if err := c.Provide(t.Context(), sessionA, "Desk", p, gaugeDeclaration); err != nil {
		t.Fatal(err)
	}
	return h, c, newest
}

func (h *testHost) openGauge(instance string) canvas.OpenCanvas {
	h.t.Helper()
	return must(h.canvases.Open(h.t.Context(), canvas.OpenArgs{Session: sessionA, CanvasID: "gauge", InstanceID: instance}))
}

func (h *testHost) canvasState(channel string) canvas.CanvasState {
	h.t.Helper()
	st, ok := h.log.State(channel)
	if !ok {
		h.t.Fatalf("no channel %s", channel)
	}
	return st.(canvas.CanvasState)
}

// Updates made before Open has returned are part of the open's answer, which has
// precedence.
func TestUpdateInOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := providesGauges(t, func(h *canvas.Handle, _ *gauge) {
			if err := h.Update(t.Context(), canvas.Update{Title: ahp.Set("Early"), Status: ahp.Set("early")}); err != nil {
				t.Error(err)
			}
			if err := h.Post(t.Context(), ahp.Value(`1`)); err != nil {
				t.Error(err)
			}
		})
		o := h.openGauge("g1")
		if o.Title != "Gauge" || o.Status != "early" {
			t.Errorf("opened with title %q and status %q", o.Title, o.Status)
		}
	})
}

// A provider may update as soon as Open has returned: the update waits until the
// host lists the canvas.
func TestUpdateBeforeTheCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		f := newFake(t, n)
		f.answer = func(method string, _ ahp.Value) any {
			if method == ahp.Subscribe.Name {
				return ahp.SubscribeResult{Snapshot: &ahp.Snapshot{Resource: "ahp-canvas:/x", FromSeq: 12, State: ahp.Value(
					`{"instanceId":"g1","canvasId":"gauge","extensionId":"client:desk","availability":"ready","provider":{"kind":"client","clientId":"desk"}}`)}}
			}
			return nil
		}
		c := dial(t, n, client.Options{ClientID: "desk", Subscriptions: []string{sessionA}})
		p, newest := opensGauges(nil)
		go func() { _ = c.Provide(t.Context(), sessionA, "Desk", p, gaugeDeclaration) }()
		synctest.Wait()
		_, err := f.peers[0].Call(t.Context(), canvas.CanvasOpen.Name, canvas.CanvasOpenParams{Channel: sessionA, CanvasID: "gauge", InstanceID: "g1"})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = newest().h.SetTitle(t.Context(), "New") }()
		synctest.Wait()
		if got := f.methods(); strings.Join(got, " ") != "initialize dispatchAction" {
			t.Errorf("before the canvas is listed: %q", got)
		}
		if _, err := c.InstanceChannel(sessionA, "g1"); !errors.Is(err, client.ErrNotOpen) {
			t.Errorf("its channel: %v", err)
		}
		f.push(`{"channel":"` + sessionA + `","serverSeq":11,"action":{"type":"session/openCanvasesChanged","openCanvases":[
			{"channel":"ahp-canvas:/x","instanceId":"g1","canvasId":"gauge","extensionId":"client:desk","availability":"ready"}]}}`)
		synctest.Wait()
		if got := strings.Join(f.methods(), " "); !strings.HasPrefix(got, "initialize dispatchAction subscribe ") || strings.Count(got, "dispatchAction") != 2 {
			t.Errorf("after it is listed: %q", got)
		}
		if uri, err := c.InstanceChannel(sessionA, "g1"); uri != "ahp-canvas:/x" || err != nil {
			t.Errorf("its channel: %q, %v", uri, err)
		}
	})
}

// As in a host, what an update does not change is not published.
func TestUpdateWithoutEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, newest := providesGauges(t, nil)
		o := h.openGauge("g1")
		w := h.dial(t, client.Options{Subscriptions: []string{o.Channel}}).Watch(o.Channel)
		next(t, w)
		g := newest().h
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, u := range []canvas.Update{
			{Title: ahp.Set("Gauge")}, {}, {Status: ahp.Clear[string]()},
			{Title: ahp.Set("Gauge"), Status: ahp.Set("full")}, {Status: ahp.Set("full")},
		} {
			if err := g.Update(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		// The first update is on its way when the second one restores the old title.
		_ = g.Update(canceled, canvas.Update{Title: ahp.Set("Other")})
		if err := g.SetTitle(t.Context(), "Gauge"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"status":"full"`, `"title":"Other"`, `"title":"Gauge"`} {
			if ev := next(t, w); string(ev.Raw) != `{"type":"canvas/updated",`+want+`}` {
				t.Errorf("update %s, want %s", ev.Raw, want)
			}
		}
	})
}

// A handle outlives connections and ends with its instance.
func TestHandleLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c, newest := providesGauges(t, nil)
		o := h.openGauge("g1")
		g := newest().h
		h.net.cut()
		synctest.Wait()
		if err := g.SetTitle(t.Context(), "Gauge 2"); err == nil || errors.Is(err, canvas.ErrHandleClosed) {
			t.Errorf("without a connection: %v", err)
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := g.SetTitle(t.Context(), "Gauge 3"); err != nil || *h.canvasState(o.Channel).Title != "Gauge 3" {
			t.Errorf("after the resume: %v", err)
		}
		if err := h.closeCanvas("g1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case <-g.Done():
		default:
			t.Error("the handle did not end with the canvas")
		}
		wantErr(t, g.SetTitle(t.Context(), "x"), canvas.ErrHandleClosed)
		h.openGauge("g2")
		c.Close()
		wantErr(t, newest().h.SetTitle(t.Context(), "x"), canvas.ErrHandleClosed)
	})
}

func TestHandleOfAFailedOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, d, _ := provides(t, client.Options{})
		_, err := h.openEditor("bad", "")
		wantErr(t, err, &canvas.Error{Code: "no_such_file"})
		wantErr(t, d.handle.SetTitle(t.Context(), "x"), canvas.ErrHandleClosed)
	})
}

func TestHandleUnsupported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, newest := providesGauges(t, nil)
		h.openGauge("g1")
		g, view := newest().h, canvas.View{ClientID: "view"}
		for name, err := range map[string]error{
			"PostTo": g.PostTo(t.Context(), view, ahp.Value(`1`)), "PostEncoded": g.PostEncoded(t.Context(), view, ahp.Value(`1`)),
			"Raise": g.Raise(ahp.Value(`1`)), "Save": g.Save(t.Context(), []byte("x")), "MarkStale": g.MarkStale(), "Reopen": g.Reopen(),
		} {
			if !errors.Is(err, canvas.ErrUnsupported) || !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := g.Post(t.Context(), ahp.Value(`{`)); err == nil {
			t.Error("Post accepted a payload that is not JSON")
		}
	})
}

// What a provider announces reaches the state, at most four times a second, also before
// Open has returned, while there is no connection, and after the canvas was stale.
func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens := 0
		h, c, newest := providesGauges(t, func(h *canvas.Handle, _ *gauge) {
			if opens++; opens > 1 {
				return
			}
			if err := h.Attention("early"); err != nil {
				t.Error(err)
			}
		})
		o := h.openGauge("g1")
		shown := func() (reason string, done float64) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			var meta struct {
				A canvas.Attention `json:"x-ahp-canvas/attention"`
				P canvas.Progress  `json:"x-ahp-canvas/progress"`
			}
			if st := h.canvasState(o.Channel); st.Meta != nil {
				_ = ahp.Unmarshal(st.Meta, &meta) // other members are not looked at
			}
			return meta.A.Reason, meta.P.Done
		}
		if reason, _ := shown(); reason != "early" {
			t.Errorf("after the open: %q", reason)
		}
		w := h.dial(t, client.Options{Subscriptions: []string{o.Channel}}).Watch(o.Channel)
		next(t, w)
		g := newest().h
		for n := range 100 {
			if err := g.Progress(float64(n), 100, ""); err != nil {
				t.Fatal(err)
			}
		}
		if reason, done := shown(); reason != "early" || done != 99 {
			t.Errorf("after 100 steps: %q, %v", reason, done)
		}
		if n := len(queued(w)); n > 5 {
			t.Errorf("%d updates for 100 steps", n)
		}
		h.net.cut()
		time.Sleep(time.Minute) // the grace period is over
		if reason, _ := shown(); reason != "" {
			t.Errorf("while stale: %q", reason)
		}
		if err := g.Attention("late"); err != nil {
			t.Error(err)
		}
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reason, done := shown(); reason != "late" || done != 99 {
			t.Errorf("after the return: %q, %v", reason, done)
		}
		if err := h.closeCanvas("g1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantErr(t, g.Attention("x"), canvas.ErrHandleClosed)
	})
}

// queued returns the events that a watch has.
func queued(w *client.Watch) (events []client.Event) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		ev, err := w.Next(done)
		if err != nil {
			return events
		}
		events = append(events, ev)
	}
}

// Messages of Views reach the instance in order, also after a resume.
func TestMessenger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var received []string
		h, c, newest := providesGauges(t, func(_ *canvas.Handle, g *gauge) {
			g.OnMessage = func(ctx context.Context, from canvas.View, payload ahp.Value) {
				received = append(received, fmt.Sprintf("%s %d %s", from.ClientID, from.Conn, payload))
				if err := g.h.SetStatus(ctx, string(payload)); err != nil { // waits for an echo
					t.Error(err)
				}
			}
		})
		provider := h.net.takeWires()
		o := h.openGauge("g1")
		view := h.dial(t, client.Options{ClientID: "view", Subscriptions: []string{o.Channel}})
		say := func(payload int) {
			t.Helper()
			if err := view.Message(t.Context(), o.Channel, payload); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		say(1)
		say(2)
		if err := newest().h.Post(t.Context(), ahp.Value(`"not for itself"`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cutAll(provider)
		synctest.Wait()
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		say(3)
		synctest.Wait()
		if diff := cmp.Diff([]string{"view 0 1", "view 0 2", "view 0 3"}, received); diff != "" {
			t.Error(diff)
		}
	})
}

// A provider that does not take its messages delays nothing else. Those above the
// limit are dropped.
func TestMailboxLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sent = 20
		large := strings.Repeat("x", 60<<10)
		received, hold := 0, make(chan struct{})
		h, _, newest := providesGauges(t, func(_ *canvas.Handle, g *gauge) {
			g.OnMessage = func(context.Context, canvas.View, ahp.Value) {
				received++
				<-hold
			}
		})
		o := h.openGauge("g1")
		view := h.dial(t, client.Options{ClientID: "view", Subscriptions: []string{o.Channel}})
		synctest.Wait()
		for range sent {
			if err := view.Message(t.Context(), o.Channel, large); err != nil {
				t.Fatal(err)
			}
		}
		if err := newest().h.SetTitle(t.Context(), "still working"); err != nil {
			t.Error(err)
		}
		close(hold)
		synctest.Wait()
		if received != 16 { // 16 of 60 KiB and the cost of each fit 1 MiB
			t.Errorf("received %d messages", received)
		}
		if err := view.Message(t.Context(), o.Channel, "one more"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if received != 17 {
			t.Errorf("received %d messages after it was empty again", received)
		}
	})
}

// A client's canvases go to the provider that declared them, by session and id.
func TestSeveralProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{ClientID: "desk"})
		provide := func(uri, name, canvasID string) {
			t.Helper()
			p := canvas.Func(func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
				return canvas.Opened{Title: name, Instance: &canvas.App{}}, nil
			})
			if err := c.Provide(t.Context(), uri, "Desk", p, canvas.Declaration{CanvasID: canvasID, DisplayName: name, Description: "."}); err != nil {
				t.Fatal(err)
			}
		}
		wantTitle := func(uri, canvasID, want string) {
			t.Helper()
			o, err := h.canvases.Open(t.Context(), canvas.OpenArgs{Session: uri, CanvasID: canvasID})
			if err != nil || o.Title != want {
				t.Errorf("%s in %s: title %q, %v; want %q", canvasID, uri, o.Title, err, want)
			}
		}
		provide(sessionA, "one", "x")
		provide(sessionA, "two", "y")
		provide(sessionB, "three", "x")
		wantTitle(sessionA, "x", "one")
		wantTitle(sessionA, "y", "two")
		wantTitle(sessionB, "x", "three")
		provide(sessionA, "four", "x")
		wantTitle(sessionA, "x", "four")
		wantTitle(sessionA, "y", "two")
		if err := c.Withdraw(t.Context(), sessionA, "x"); err != nil {
			t.Fatal(err)
		}
		wantTitle(sessionA, "y", "two")
		_, err := h.canvases.Open(t.Context(), canvas.OpenArgs{Session: sessionA, CanvasID: "x"})
		wantErr(t, err, &canvas.Error{Code: canvas.CodeNotFound})
		if err := c.Withdraw(t.Context(), sessionA); err != nil {
			t.Fatal(err)
		}
		h.net.cut()
		time.Sleep(time.Minute) // the grace period is over
		if err := c.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantTitle(sessionB, "x", "three")
		if st := stateOf(t, h, sessionA); len(st.ActiveClients) != 0 {
			t.Errorf("what was withdrawn is declared again: %+v", st.ActiveClients)
		}
		if err := c.Withdraw(t.Context(), sessionA); err != nil {
			t.Errorf("withdrawing nothing: %v", err)
		}
	})
}

func stateOf(t *testing.T, h *testHost, uri string) session.State {
	t.Helper()
	st, ok := h.log.State(uri)
	if !ok {
		t.Fatalf("no channel %s", uri)
	}
	return st.(session.State)
}
