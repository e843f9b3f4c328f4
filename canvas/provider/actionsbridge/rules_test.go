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

// TestProgressOfAnother: the step of a call is reported by its own runtime alone.
func TestProgressOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t, ab.Options{})
		w, c := attach(b, trusted, "r1", "https://a.example/")
		c.Receive(ready("r2", "https://b.example/"))
		call := start(t, b, ab.Call{RuntimeID: "r1", Name: "a"})
		id := (<-w.calls).CallID
		for _, p := range [][2]string{{"r1", "typing"}, {"r2", "foreign"}} {
			c.Receive(fmt.Appendf(nil, `{"type":"action_progress","call_id":%q,"runtime_id":%q,"last_entered_content_phase":%q}`, id, p[0], p[1]))
		}
		o := <-call
		wantError(t, o.err, ab.CodeHandlerTimeout)
		if step := evidence(t, o.err)["step"]; step != "typing" {
			t.Errorf("the step is %v", step)
		}
	})
}

// TestTimedOutCallsDoNotCount: a call that timed out is no longer in flight. The limit is
// checked last, so arguments that do not fit are refused as such also at the limit.
func TestTimedOutCallsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t, ab.Options{})
		w, c := attach(b, trusted, "r", "https://a.example/")
		for range 2 {
			var calls []<-chan outcome
			for range 16 {
				call := start(t, b, ab.Call{RuntimeID: "r", Name: "a"})
				select {
				case <-w.calls:
				case o := <-call:
					t.Fatalf("call %d was not sent: %v", len(calls)+1, o.err)
				}
				calls = append(calls, call)
			}
			_, err := b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "a", Arguments: []byte(`{"x":7}`)})
			wantError(t, err, ab.CodeInvalidInput)
			_, err = b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "a"})
			wantError(t, err, ab.CodeRuntimeNotReady)
			if n := evidence(t, err)["in_flight"]; n != 16.0 {
				t.Errorf("%v calls are in flight", n)
			}
			for _, call := range calls {
				wantError(t, (<-call).err, ab.CodeHandlerTimeout)
			}
			c.Receive([]byte(`{"type":"runtime_status","runtime_id":"r"}`))
		}
	})
}

// TestErrorsNameTheCall: each error of a call names it and its runtime, wherever the call
// failed.
func TestErrorsNameTheCall(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w, c := attach(b, trusted, "r", "https://a.example/")
	named := func(err *ab.Error, code, runtime string) {
		t.Helper()
		wantError(t, err, code)
		if err.CallID != "mine" || err.RuntimeID != runtime {
			t.Errorf("%v is of call %q and runtime %q", err, err.CallID, err.RuntimeID)
		}
	}
	_, err := b.Call(t.Context(), ab.Call{ID: "mine", RuntimeID: "none", Name: "a"})
	named(err, ab.CodeRuntimeNotFound, "none")
	_, err = b.Call(t.Context(), ab.Call{ID: "mine", RuntimeID: "r", Name: "none"})
	named(err, ab.CodeUnknownAction, "r")
	call := start(t, b, ab.Call{ID: "mine", RuntimeID: "r", Name: "a"})
	item := <-w.calls
	_, err = b.Call(t.Context(), ab.Call{ID: "mine", RuntimeID: "r", Name: "a"})
	named(err, ab.CodeInvalidInput, "r")
	c.Receive(output(item, `{"ok":false,"error":{"code":"target_not_found"}}`))
	named((<-call).err, ab.CodeTargetNotFound, "r")
}

// TestEventsOfInvalidManifest: an invalid manifest declares no events: they are dropped,
// and do not count towards the limit of events.
func TestEventsOfInvalidManifest(t *testing.T) {
	const signals = `"signals":[{"name":"s","ingestion":"enabled"}]`
	m, issues := ab.ReadManifest([]byte(`{"version":2,"tools":[{"name":"a"}],` + signals + `}`))
	if len(issues) != 1 || len(m.Signals) != 0 || len(m.Actions) != 0 {
		t.Errorf("an invalid manifest has %+v", m)
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t, ab.Options{})
		_, c := attach(b, trusted, "r", "https://a.example/", `"manifest":{"version":2,`+signals+`}`)
		var passed atomic.Int64
		b.Watch(func(e ab.Event) {
			if e.Kind == ab.Signaled {
				passed.Add(1)
			}
		})
		send := func() {
			for range 50 {
				c.Receive([]byte(`{"type":"dom_event","runtime_id":"r","event_id":"e","name":"s","payload":{}}`))
			}
		}
		send()
		if r, _ := b.Runtime("r"); passed.Load() != 0 || r.Dropped != 50 {
			t.Errorf("%d events of an invalid manifest, %d dropped", passed.Load(), r.Dropped)
		}
		c.Receive(ready("r", "https://a.example/", `"manifest":{`+signals+`}`))
		if send(); passed.Load() != 50 {
			t.Errorf("%d of 50 events after the manifest was corrected", passed.Load())
		}
	})
}

// TestDescriptionsAreNotRun: what a manifest says about states, attachments, transitions,
// checks, context and imports is not judged and declares no actions; the runtime reports
// the states and attachments that hold.
func TestDescriptionsAreNotRun(t *testing.T) {
	b := newBridge(t, ab.Options{})
	for n, v := range []string{`[{"id":"i","name":"other","uri":"other.json","tool":"other","steps":[{"action":"other"}]}]`, `7`} {
		var members []string
		for _, name := range []string{"states", "attachments", "transitions", "checks", "context", "imports"} {
			members = append(members, `"`+name+`":`+v)
		}
		id := fmt.Sprint("r", n)
		w, c := attach(b, trusted, id, "https://a.example/", `"manifest":{"tools":[{"name":"a"}],`+strings.Join(members, ",")+`}`)
		if all, err := b.Actions(id); err != nil || len(all) != 1 || all[0].Name != "a" {
			t.Errorf("%s: actions %+v, %v", v, all, err)
		}
		if r, _ := b.Runtime(id); r.State != ab.Ready || len(r.States)+len(r.Attachments) != 0 {
			t.Errorf("%s: %+v", v, r)
		}
		c.Receive(fmt.Appendf(nil, `{"type":"runtime_status","runtime_id":%q,"states":["open"],"attachments":[{"id":"i","state":"attached"}]}`, id))
		if r, _ := b.Runtime(id); fmt.Sprint(r.States, r.Attachments) != "[open] [{i attached}]" {
			t.Errorf("%s: %v %v", v, r.States, r.Attachments)
		}
		if w.count(ab.TypeCall) != 0 {
			t.Errorf("%s: something was called", v)
		}
	}
}
