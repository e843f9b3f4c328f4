package canvas_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

type fataler interface{ Fatalf(string, ...any) }

// apply applies encoded actions to an encoded state, and checks that no step changes
// its input. Unknown types change nothing.
func apply(t fataler, raw ahp.Value, actions []ahp.Value) ahp.Value {
	var state canvas.CanvasState
	if err := ahp.Unmarshal(raw, &state); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for _, a := range actions {
		enc, err := canvas.Actions.Decode(a)
		if err != nil {
			continue
		}
		before := string(ahp.MustMarshal(state))
		next, _, err := canvas.Reduce(state, enc.Action)
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		if now := string(ahp.MustMarshal(state)); now != before {
			t.Fatalf("%s changed its input\nfrom %s\nto   %s", a, before, now)
		}
		state = next.(canvas.CanvasState)
	}
	return ahp.MustMarshal(state)
}

func fixtures(t testing.TB) (cases []testcases.ReducerCase) {
	t.Helper()
	all, err := testcases.Reducers()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Reducer == "canvas" {
			cases = append(cases, c)
		}
	}
	return cases
}

// TestReducerFixtures: the fixtures reach their final states, from the start and
// from a snapshot after every k actions; every row of the action table has a
// fixture.
func TestReducerFixtures(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range fixtures(t) {
		t.Run(c.Name, func(t *testing.T) {
			for _, a := range c.Actions {
				tag, _ := ahp.ActionTag(a)
				covered[tag] = true
				if _, err := canvas.Actions.Decode(a); err != nil && canvas.Actions.Row(tag) != nil {
					t.Errorf("%s: %v", a, err)
				}
			}
			for k := range len(c.Actions) + 1 {
				got := apply(t, apply(t, c.Initial, c.Actions[:k]), c.Actions[k:])
				if !ahp.Equal(got, c.Expected) {
					t.Errorf("with a snapshot after %d actions:\nwant %s\nhave %s", k, c.Expected, got)
				}
			}
		})
	}
	for _, row := range canvas.Actions.Rows() {
		if !covered[row.Type] {
			t.Errorf("no fixture has %s", row.Type)
		}
	}
}

func actionPool(t testing.TB) (pool []ahp.Value) {
	t.Helper()
	for _, c := range fixtures(t) {
		pool = append(pool, c.Actions...)
	}
	return pool
}

const startState = `{"instanceId":"i","canvasId":"c","extensionId":"e","availability":"ready","provider":{"kind":"server"},"x-kept":9007199254740993}`

// TestAnySequenceReplays: for random sequences, a snapshot at any point plus the
// following actions gives the same final state.
func TestAnySequenceReplays(t *testing.T) {
	pool := actionPool(t)
	rapid.Check(t, func(rt *rapid.T) {
		actions := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 30).Draw(rt, "actions")
		cut := rapid.IntRange(0, len(actions)).Draw(rt, "cut")
		live := apply(rt, ahp.Value(startState), actions)
		resumed := apply(rt, apply(rt, ahp.Value(startState), actions[:cut]), actions[cut:])
		if !ahp.Equal(live, resumed) {
			rt.Fatalf("resumed after %d: %s\nlive: %s", cut, resumed, live)
		}
	})
}

// FuzzActions: every action that decodes leaves a state that can be decoded.
func FuzzActions(f *testing.F) {
	for _, a := range actionPool(f) {
		f.Add([]byte(a))
	}
	f.Add([]byte(`{"type":"canvas/updated","availability":null}`))
	f.Fuzz(func(t *testing.T, action []byte) {
		end := apply(t, ahp.Value(startState), []ahp.Value{action})
		apply(t, end, nil)
	})
}

func TestUpdatedIsValidated(t *testing.T) {
	for action, ok := range map[string]bool{
		`{"type":"canvas/updated","availability":"ready"}`: true,
		`{"type":"canvas/updated","availability":null}`:    true,
		`{"type":"canvas/updated","availability":"gone"}`:  false,
		`{"type":"canvas/updated","title":7}`:              false,
		`{"type":"canvas/message"}`:                        false,
		`{"type":"canvas/message","payload":null}`:         true,
	} {
		if _, err := canvas.Actions.Decode(ahp.Value(action)); (err == nil) != ok {
			t.Errorf("%s: %v", action, err)
		}
	}
}
