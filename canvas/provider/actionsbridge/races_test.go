package actionsbridge_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// TestCallID: a caller's id has at most 256 bytes, and is free again after its call.
func TestCallID(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w, c := attach(b, trusted, "r", "https://a.example/")
	w.onCall = func(item ab.Item) { go c.Receive(output(item, "1")) }
	longest := strings.Repeat("x", 256)
	for range 2 {
		if v, err := b.Call(t.Context(), ab.Call{ID: longest, RuntimeID: "r", Name: "a"}); err != nil || string(v) != "1" {
			t.Errorf("an id of 256 bytes: %s, %v", v, err)
		}
	}
	_, err := b.Call(t.Context(), ab.Call{ID: longest + "x", RuntimeID: "r", Name: "a"})
	wantError(t, err, ab.CodeInvalidInput)
	if e := evidence(t, err); e["path"] != "/call_id" || !strings.Contains(err.Message, "256 bytes") {
		t.Errorf("an id of 257 bytes: %v, %v", err, e)
	}
	if n := w.count(ab.TypeCall); n != 2 {
		t.Errorf("%d calls were sent", n)
	}
}

// TestInFlightOfEachRuntime: the limit of calls in flight is a runtime's, also of two on one
// socket.
func TestInFlightOfEachRuntime(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w, c := attach(b, trusted, "r", "https://a.example/")
	c.Receive(ready("r2", "https://b.example/"))
	var calls []<-chan outcome
	for range 16 {
		for _, id := range []string{"r", "r2"} {
			calls = append(calls, start(t, b, ab.Call{RuntimeID: id, Name: "a"}))
		}
	}
	var items []ab.Item
	for range calls {
		select {
		case item := <-w.calls:
			items = append(items, item)
		case <-time.After(30 * time.Second):
			t.Fatalf("%d of %d calls were sent", len(items), len(calls))
		}
	}
	for _, id := range []string{"r", "r2"} {
		_, err := b.Call(t.Context(), ab.Call{RuntimeID: id, Name: "a"})
		wantError(t, err, ab.CodeRuntimeNotReady)
	}
	for _, item := range items {
		c.Receive(output(item, "1"))
	}
	for _, call := range calls {
		if o := <-call; o.err != nil {
			t.Error(o.err)
		}
	}
}

// TestMalformedIsNoAnswer: a malformed item fails the call that it names only if it is an
// answer.
func TestMalformedIsNoAnswer(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w, c := attach(b, trusted, "r", "https://a.example/")
	call := start(t, b, ab.Call{RuntimeID: "r", Name: "a"})
	item := <-w.calls
	for _, kind := range []string{"runtime_status", "action_progress", "dom_event", "runtime_ready"} {
		before := w.count(ab.TypeError)
		c.Receive(fmt.Appendf(nil, `{"type":%q,"call_id":%q,"runtime_id":"r","timeout_ms":"x"}`, kind, item.CallID))
		if w.count(ab.TypeError) != before+1 || w.errorCode(t) != ab.CodeInvalidInput {
			t.Errorf("a malformed %s was answered %q", kind, w.errorCode(t))
		}
	}
	c.Receive(output(item, "1"))
	if o := <-call; string(o.value) != "1" {
		t.Errorf("after malformed items that are no answers: %v", o.err)
	}
}

// between is a context that runs a function between the checks of a call and its sending,
// where the bridge asks for the deadline.
type between struct {
	context.Context
	do func()
}

func (c between) Deadline() (time.Time, bool) { c.do(); return c.Context.Deadline() }

// TestChangeBeforeSending: what changed since a call was checked counts: nothing is sent to a
// runtime that has gone, has been replaced or was refused meanwhile.
func TestChangeBeforeSending(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *ab.Bridge, c *ab.Conn)
		code   string
	}{
		"gone":     {func(_ *ab.Bridge, c *ab.Conn) { c.Close() }, ab.CodeTransportFailed},
		"replaced": {func(b *ab.Bridge, _ *ab.Conn) { attach(b, trusted, "r", "https://a.example/") }, ab.CodeTransportFailed},
		"refused":  {func(b *ab.Bridge, _ *ab.Conn) { _ = b.Judge("r", ab.Refuse) }, ab.CodePermissionDenied},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBridge(t, ab.Options{Timeout: time.Second})
			w, conn := attach(b, trusted, "r", "https://a.example/")
			_, err := b.Call(between{t.Context(), func() { c.change(b, conn) }}, ab.Call{RuntimeID: "r", Name: "a"})
			wantError(t, err, c.code)
			if n := w.count(ab.TypeCall); n != 0 {
				t.Errorf("%d calls were sent", n)
			}
		})
	}
}

// TestChangeDuringEvent: an event of a runtime that a person refuses, or that goes, while its
// payload is checked is not reported.
func TestChangeDuringEvent(t *testing.T) {
	for name, change := range map[string]func(b *ab.Bridge, c *ab.Conn){
		"refused": func(b *ab.Bridge, _ *ab.Conn) { _ = b.Judge("r", ab.Refuse) },
		"gone":    func(_ *ab.Bridge, c *ab.Conn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := ab.New(ab.Options{})
				defer b.Close()
				_, c := attach(b, trusted, "r", "https://a.example/")
				time.Sleep(40 * time.Second) // it is silent: its event is first reported as a change
				changed, events := false, 0
				b.Watch(func(e ab.Event) {
					switch {
					case e.Kind == ab.Signaled:
						events++
					case !changed:
						changed = true
						go change(b, c)
						for usable := true; usable; goruntime.Gosched() {
							r, ok := b.Runtime("r")
							usable = ok && r.LetIn()
						}
					}
				})
				c.Receive([]byte(`{"type":"dom_event","runtime_id":"r","event_id":"e","name":"overlay.closed","payload":{}}`))
				synctest.Wait()
				if !changed || events != 0 || b.Stats().Events != 1 {
					t.Errorf("changed: %v, %d events were reported, %d dropped", changed, events, b.Stats().Events)
				}
			})
		})
	}
}
