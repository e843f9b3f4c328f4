package bridgecanvas_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestBrowserOtherPrincipal: a card does not move to a runtime with the id and the key that
// it lost, if another principal connected it, nor to one without a key because it had none.
func TestBrowserOtherPrincipal(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{Origins: []string{shopPage.Origin, "https://evil.example"}})
		keyed := b.connect(shopPage, "r1", "https://shop.example/1", `"runtime_key":"k"`)
		plain := b.connect(shopPage, "r2", "https://shop.example/2")
		for id, input := range map[string]string{"keyed": `{"runtime_id":"r1"}`, "plain": `{"runtime_id":"r2"}`} {
			if _, err := b.openPage(id, input); err != nil {
				t.Fatal(err)
			}
		}
		keyed.conn.Close()
		plain.conn.Close()
		evil := b.connect(ab.Principal{Kind: ab.Page, Origin: "https://evil.example"}, "r1", "https://evil.example/", `"runtime_key":"k"`)
		b.connect(shopPage, "r3", "https://shop.example/2")
		for _, id := range []string{"keyed", "plain"} {
			if got := b.availability(id); got != string(session.Stale) {
				t.Errorf("the card %s is %s", id, got)
			}
		}
		if len(evil.called()) != 0 {
			t.Error("another principal was called")
		}
	})
}

// TestBrowserOpenedAgain: a card that is opened again without selectors keeps its page, also
// if others would fit.
func TestBrowserOpenedAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/1")
		if _, err := b.openPage("p", `{"runtime_id":"r1"}`); err != nil {
			t.Fatal(err)
		}
		b.connect(anyTab, "r2", "https://shop.example/2")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatalf("without selectors: %v", err)
		}
		w.reply = func(ab.Item) string { return `"first"` }
		if v, e := b.invoke("p", "call", `{"name":"look"}`); v != `"first"` {
			t.Errorf("%s %v", v, e)
		}
	})
}

// reachable counts what a provider reports to its registration.
type reachable struct{ times int }

func (r *reachable) SetReachable(bool) { r.times++ }

// TestBrowserRestarted: after a restart of the host a card is opened by what was saved. It
// fails while that page is not connected, and the host is notified when that page comes,
// not for others.
func TestBrowserRestarted(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		p := bridgecanvas.New(bridgecanvas.Options{Bridge: b.bridge})
		defer p.Close()
		var reg reachable
		p.Watch(&reg)
		var kept int
		handle := canvas.MakeHandle(&recordingKeeper{&kept}, "s", "one")
		saved := []byte(`{"runtime_id":"r1","runtime_key":"k","principal":{"Kind":"extension","Origin":"chrome-extension://x","Trusted":true}}`)
		open := func() error {
			_, err := p.Open(t.Context(), canvas.OpenRequest{Session: "s", CanvasID: bridgecanvas.PageID, InstanceID: "one", Saved: saved, Input: ahp.Value(`{"target_url_contains":"a.example"}`)}, &handle)
			return err
		}
		b.connect(anyTab, "other", "https://a.example/")
		if err := open(); err == nil || !strings.Contains(err.Error(), "the page of this canvas is not connected") {
			t.Errorf("opened by its selectors: %v", err)
		}
		b.connect(anyTab, "another", "https://a.example/", `"runtime_key":"l"`)
		if reg.times != 0 {
			t.Error("the host was notified of another page")
		}
		b.connect(anyTab, "r7", "https://elsewhere.example/", `"runtime_key":"k"`)
		if reg.times == 0 {
			t.Fatal("the host was not notified")
		}
		if err := open(); err != nil {
			t.Error(err)
		}
	})
}

// TestBrowserRuntimeEvents: actions.runtime is raised when a page's state changes, not for
// each of its reports, and at most 100 at once.
func TestBrowserRuntimeEvents(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		b.Open(bridgecanvas.BrowserID, "all", nil)
		w := b.connect(anyTab, "r1", "https://shop.example/")
		for n := range 5 {
			w.conn.Receive(fmt.Appendf(nil, `{"type":"runtime_status","runtime_id":"r1","title":"%d"}`, n))
		}
		if got := b.events(); len(got) != 1 {
			t.Errorf("events %s", got)
		}
		for range 80 {
			b.connect(anyTab, "r2", "https://shop.example/").conn.Close()
		}
		if got := len(b.events()); got != 100 {
			t.Errorf("%d events", got)
		}
	})
}

// states returns the messages with the state that a View received.
func states(v *canvastest.View) (all []string) {
	for _, e := range v.Take() {
		if strings.Contains(string(e.Action), `"actions":"state"`) {
			all = append(all, string(e.Action))
		}
	}
	return all
}

// TestBrowserState: a card shows the last hundred calls, and its state fits a message however
// many pages there are; Views receive it twice a second at most, also those that may only
// watch.
func TestBrowserState(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		o := b.Open(bridgecanvas.BrowserID, "all", nil)
		v := b.Connect("person")
		v.Subscribe(o.Channel)
		hello := func() string {
			t.Helper()
			v.Say(o.Channel, `{"x-ahp":"view/1","type":"hello"}`)
			synctest.Wait()
			all := states(v)
			if len(all) == 0 {
				t.Fatal("no state after a hello")
			}
			return all[len(all)-1]
		}
		w := b.connect(anyTab, "r0", "https://shop.example/")
		w.reply = func(ab.Item) string { return `1` }
		for range 102 {
			if _, e := b.invoke("all", "call", `{"name":"look","runtime_id":"r0"}`); e != nil {
				t.Fatal(e)
			}
		}
		if n := strings.Count(hello(), `"name":"look"`); n != 100 {
			t.Errorf("%d calls are shown", n)
		}
		time.Sleep(2 * time.Second)
		states(v)
		for n := range 100 {
			w.conn.Receive(fmt.Appendf(nil, `{"type":"runtime_status","runtime_id":"r0","title":"%d"}`, n))
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if n := len(states(v)); n < 2 || n > 3 {
			t.Errorf("%d states in a second", n)
		}
		for n := range 4 {
			tabs := &tab{}
			tabs.conn = b.bridge.Attach(tabs, anyTab)
			for i := range 60 {
				tabs.conn.Receive(fmt.Appendf(nil, `{"type":"runtime_ready","runtime_id":"t%d-%d","url":"https://shop.example/%s","title":%q,%s}`, n, i, strings.Repeat("p", 200), strings.Repeat("é", 500), shopTools))
			}
		}
		args := strings.Repeat("x", 300)
		for range 100 {
			_, _ = b.invoke("all", "call", `{"name":"look","runtime_id":"r0","arguments":{"x":"`+args+`"}}`)
		}
		time.Sleep(time.Second)
		if got := hello(); len(got) > 57<<10 || !strings.Contains(got, `"name":"look"`) {
			t.Errorf("a state of %d bytes", len(got))
		}
	})
}
