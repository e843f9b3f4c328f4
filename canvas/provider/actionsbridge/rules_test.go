package actionsbridge_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// TestOrderOnSocket: the items of a socket are handled in order: events are reported in the
// order in which they were sent, and before the output that came after them.
func TestOrderOnSocket(t *testing.T) {
	const events = 500
	b := ab.New(ab.Options{Limits: ab.Limits{Events: events, Burst: 2 * events}})
	addr := serve(t, b)
	var seen []string // guarded by the bridge, which reports one event at a time
	b.Watch(func(e ab.Event) {
		if e.Kind == ab.Signaled {
			seen = append(seen, e.Item.EventID)
		}
	})
	c, _ := dial(t, addr, "?tkn=secret", nil)
	send := func(raw []byte) {
		if err := c.WriteMessage(websocket.TextMessage, raw); err != nil {
			t.Error(err)
		}
	}
	send(ready("r", "https://a.example/"))
	eventually(t, "a runtime", func() bool { return len(b.Runtimes()) == 1 })
	call := start(t, b, ab.Call{RuntimeID: "r", Name: "a"})
	for item := (ab.Item{}); item.Type != ab.TypeCall; {
		_, raw, err := c.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		item, _ = ab.DecodeItem(raw)
		if item.Type == ab.TypeCall {
			for n := range events {
				send(fmt.Appendf(nil, `{"type":"dom_event","runtime_id":"r","event_id":"e%d","name":"overlay.closed","payload":{}}`, n))
			}
			send(output(item, "1"))
		}
	}
	if o := <-call; o.err != nil || len(seen) != events {
		t.Fatalf("%d events before the output, %v", len(seen), o.err)
	}
	for n, id := range seen {
		if id != fmt.Sprint("e", n) {
			t.Fatalf("event %d is %s", n, id)
		}
	}
}

// TestGoneBeforeFailure: that a runtime has gone is reported before the call returns that
// fails for it, so that its card is stale when the agent learns of the failure.
func TestGoneBeforeFailure(t *testing.T) {
	b := newBridge(t, ab.Options{})
	for n := range 10 {
		w, c := attach(b, trusted, "r", "https://a.example/")
		var gone atomic.Bool
		stop := b.Watch(func(e ab.Event) {
			if e.Kind == ab.Gone {
				<-time.After(2 * time.Millisecond) // in which nothing else happens
				gone.Store(true)
			}
		})
		call := start(t, b, ab.Call{RuntimeID: "r", Name: "a"})
		<-w.calls
		go c.Close()
		wantError(t, (<-call).err, ab.CodeTransportFailed)
		if !gone.Load() {
			t.Fatalf("call %d returned before the report", n)
		}
		stop()
	}
}

// TestUnheard: the error of a call without an answer says whether the page sent anything
// else: a page that was left can stay connected, frozen, and answers no ping.
func TestUnheard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t, ab.Options{})
		for _, frozen := range []bool{false, true} {
			w, c := attach(b, trusted, "r", "https://a.example/")
			call := start(t, b, ab.Call{RuntimeID: "r", Name: "a"})
			<-w.calls
			for range 2 {
				time.Sleep(10*time.Second + time.Millisecond)
				if !frozen {
					c.Receive([]byte(`{"type":"runtime_status","runtime_id":"r"}`))
				}
			}
			o := <-call
			wantError(t, o.err, ab.CodeHandlerTimeout)
			unheard, said := evidence(t, o.err)["unheard_ms"]
			if said != frozen || frozen && unheard != 25000.0 || strings.Contains(o.err.Message, "it was probably left") != frozen {
				t.Errorf("frozen: %v; %v with %s", frozen, o.err, o.err.Evidence)
			}
			c.Close()
		}
	})
}

// TestManifestOfCall: a new manifest holds for calls that begin after it: the result of a
// call in flight is checked against the manifest with which it began.
func TestManifestOfCall(t *testing.T) {
	b := newBridge(t, ab.Options{})
	with := func(schema string) string {
		return `"manifest":{"tools":[{"name":"a","result_schema":` + schema + `}]}`
	}
	w, c := attach(b, trusted, "r", "https://a.example/", with(`{"type":"string"}`))
	for _, s := range []struct{ next, value, code string }{
		{`{"type":"number"}`, `"text"`, ""},
		{`{"type":"string"}`, `"text"`, ab.CodeInvalidResult},
	} {
		call := start(t, b, ab.Call{RuntimeID: "r", Name: "a"})
		item := <-w.calls
		c.Receive(ready("r", "https://a.example/", with(s.next)))
		c.Receive(output(item, s.value))
		if o := <-call; o.err == nil && s.code != "" || o.err != nil && o.err.Code != s.code {
			t.Errorf("before %s: %v", s.next, o.err)
		}
	}
}

// TestManifestIsCompiledOnce: a manifest is compiled once for all that send its bytes, again
// and again, and also for a while after the last of them has left; the number of manifests
// without a runtime is limited.
func TestManifestIsCompiledOnce(t *testing.T) {
	b := newBridge(t, ab.Options{})
	_, c := attach(b, trusted, "r1", "https://a.example/")
	first := ab.ManifestOf(b, "r1")
	c.Receive(ready("r1", "https://a.example/"))
	c.Receive(ready("r2", "https://b.example/"))
	if ab.ManifestOf(b, "r1") != first || ab.ManifestOf(b, "r2") != first {
		t.Error("equal manifests were compiled again")
	}
	c.Close()
	_, c = attach(b, trusted, "r3", "https://a.example/")
	if ab.ManifestOf(b, "r3") != first {
		t.Error("a manifest was compiled again after its runtimes left")
	}
	for n := range 40 {
		c.Receive(ready("r3", "https://a.example/", fmt.Sprintf(`"manifest":{"tools":[{"name":"t%d"}]}`, n)))
	}
	if n := ab.Compiled(b); n != 1+16 {
		t.Errorf("%d manifests are kept", n)
	}
}
