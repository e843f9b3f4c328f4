package session_test

import (
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"pgregory.net/rapid"
)

// actionPool returns the actions of a reducer's fixtures. Real payloads reach more code
// than random bytes.
func actionPool(t testing.TB, name string) []ahp.Value {
	t.Helper()
	var pool []ahp.Value
	for _, c := range mustCases(t) {
		if c.Reducer == name {
			pool = append(pool, c.Actions...)
		}
	}
	return pool
}

var startStates = map[string]string{
	"root":    `{"agents":[],"config":{"schema":{},"values":{"a":1}}}`,
	"session": `{"provider":"p","title":"T","status":1,"lifecycle":"creating","activeClients":[],"chats":[],"config":{"schema":{},"values":{}},"x-kept":9007199254740993}`,
}

var requiredMembers = map[string][]string{
	"root":    {"agents"},
	"session": {"provider", "title", "status", "lifecycle", "activeClients", "chats", "x-kept"},
}

// TestAnySequence: no sequence of actions panics, changes its input or removes a required
// member. A snapshot after any of them decodes, and has the same result with the rest of
// the sequence.
func TestAnySequence(t *testing.T) {
	for name, r := range reducers {
		t.Run(name, func(t *testing.T) {
			pool := actionPool(t, name)
			rapid.Check(t, func(rt *rapid.T) {
				actions := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 30).Draw(rt, "actions")
				cut := rapid.IntRange(0, len(actions)).Draw(rt, "cut")
				live := applyAny(rt, r, ahp.Value(startStates[name]), actions)
				half := applyAny(rt, r, ahp.Value(startStates[name]), actions[:cut])
				if resumed := applyAny(rt, r, half, actions[cut:]); !ahp.Equal(live, resumed) {
					rt.Fatalf("resumed after %d: %s\nlive: %s", cut, resumed, live)
				}
				var members map[string]ahp.Value
				if err := ahp.Unmarshal(live, &members); err != nil {
					rt.Fatal(err)
				}
				for _, m := range requiredMembers[name] {
					if v, ok := members[m]; !ok || v.Kind() == 'n' {
						rt.Fatalf("%s is missing in %s", m, live)
					}
				}
			})
		})
	}
}

// applyAny is like apply, but takes and returns JSON and skips refused actions.
func applyAny(t interface{ Fatalf(string, ...any) }, r reducer, raw ahp.Value, actions []ahp.Value) ahp.Value {
	state, err := r.Decode(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for _, a := range actions {
		enc, err := r.Actions.Decode(a)
		if err != nil {
			continue
		}
		before := string(ahp.MustMarshal(state))
		next, _, err := r.Reduce(state, enc.Action)
		if now := string(ahp.MustMarshal(state)); now != before {
			t.Fatalf("%s changed its input\nfrom %s\nto   %s", a, before, now)
		}
		if err == nil {
			state = next
		}
	}
	return ahp.MustMarshal(state)
}

// FuzzActions decodes and reduces a client's bytes. No action may panic, change its
// input, or result in a state that cannot be decoded.
func FuzzActions(f *testing.F) {
	for name := range reducers {
		for _, a := range actionPool(f, name) {
			f.Add(name == "root", []byte(a))
		}
	}
	f.Add(false, []byte(`{"type":"session/activeClientChanged","activeClient":null}`))
	f.Add(false, []byte(`{"type":"session/chatUpdated","chat":"ahp-chat:/c1","changes":{"title":null}}`))
	f.Fuzz(func(t *testing.T, root bool, action []byte) {
		name := "session"
		if root {
			name = "root"
		}
		end := applyAny(t, reducers[name], ahp.Value(startStates[name]), []ahp.Value{action})
		if _, err := reducers[name].Decode(end); err != nil {
			t.Fatal(fmt.Errorf("the state after %s cannot be read: %w", action, err))
		}
	})
}
