package actionsbridge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// TestNamesOfStatus: the newest status says which actions there are beside the tools, also
// if it says none, and which of them run scripts.
func TestNamesOfStatus(t *testing.T) {
	b := newBridge(t, ab.Options{})
	_, c := attach(b, trusted, "r", "https://a.example/", `"manifest":{"tools":[{"name":"a"}],"primitive_dictionary":{"primitives":[{"name":"x.eval","capability_class":"debug"}]}}`)
	list := func() (names string) {
		t.Helper()
		all, err := b.Actions("r")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			names += " " + a.Name
			if a.Debug {
				names += "!"
			}
		}
		return names
	}
	c.Receive([]byte(`{"type":"runtime_status","runtime_id":"r","actions":["a","b","debug.log","x.eval"]}`))
	if got := list(); got != " a b debug.log! x.eval!" {
		t.Errorf("actions%s", got)
	}
	c.Receive([]byte(`{"type":"runtime_status","runtime_id":"r","title":"no word of actions"}`))
	if got := list(); got != " a b debug.log! x.eval!" {
		t.Errorf("after a status without actions:%s", got)
	}
	c.Receive([]byte(`{"type":"runtime_status","runtime_id":"r","actions":[]}`))
	if got := list(); got != " a" {
		t.Errorf("after a status with none:%s", got)
	}
	_, err := b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "b"})
	wantError(t, err, ab.CodeUnknownAction)
}

// TestArguments: arguments are a JSON object of at most 256 KiB, and nothing else is sent.
func TestArguments(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w, c := attach(b, trusted, "r", "https://a.example/")
	w.onCall = func(item ab.Item) { go c.Receive(output(item, "1")) }
	const limit = 256 << 10
	fits := `{"x":"` + strings.Repeat("x", limit-len(`{"x":""}`)) + `"}`
	if _, err := b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "b", Arguments: ahp.Value(fits)}); err != nil {
		t.Errorf("arguments of 256 KiB: %v", err)
	}
	for _, args := range []string{fits[:len(fits)-2] + `x"}`, `{"x"`, `{"x":1,"x":2}`, `[]`, `"x"`} {
		_, err := b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "b", Arguments: ahp.Value(args)})
		wantError(t, err, ab.CodeInvalidInput)
	}
	if n := w.count(ab.TypeCall); n != 1 {
		t.Errorf("%d calls were sent", n)
	}
}

// TestShortestTimeout: timeout_ms of a call is at least 1, also if its caller's deadline is
// nearer than the half second that is left for the error.
func TestShortestTimeout(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w, _ := attach(b, trusted, "r", "https://a.example/")
	_, err := b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "a", Timeout: time.Microsecond})
	wantError(t, err, ab.CodeHandlerTimeout)
	if item := <-w.calls; item.TimeoutMs != 1 {
		t.Errorf("timeout_ms is %d", item.TimeoutMs)
	}
	near, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	_, err = b.Call(near, ab.Call{RuntimeID: "r", Name: "a"})
	wantError(t, err, ab.CodeHandlerTimeout)
	if e := evidence(t, err); e["timeout_ms"] != 1.0 {
		t.Errorf("near its deadline: %v", e)
	}
}
