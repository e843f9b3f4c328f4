package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/google/go-cmp/cmp"
)

// reducer is a channel kind of this package.
type reducer struct{ *canvas.ChannelKind }

var reducers = map[string]reducer{
	"root":    {canvas.ChannelKindNamed("root")},
	"session": {canvas.ChannelKindNamed("session")},
}

// apply applies actions to a state, and checks that none changes its input. An action of
// an unknown type changes nothing.
func (r reducer) apply(t testing.TB, state channels.State, actions []ahp.Value) channels.State {
	t.Helper()
	for _, raw := range actions {
		enc, err := r.Actions.Decode(raw)
		if err != nil {
			if tag, _ := ahp.ActionTag(raw); r.Actions.Row(tag) != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			continue
		}
		before := ahp.MustMarshal(state)
		after, _, err := r.Reduce(state, enc.Action)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(string(before), string(ahp.MustMarshal(state))); diff != "" {
			t.Fatalf("%s changed its input:\n%s", raw, diff)
		}
		state = after
	}
	return state
}

func (r reducer) mustDecode(t testing.TB, raw ahp.Value) channels.State {
	t.Helper()
	state, err := r.Decode(raw)
	if err != nil {
		t.Fatalf("initial state: %v", err)
	}
	return state
}

func equalJSON(t testing.TB, want, got ahp.Value) {
	t.Helper()
	if !ahp.Equal(want, got) {
		t.Errorf("want %s\nhave %s", want, got)
	}
}

// upstream returns a folder of upstream fixtures, which are not part of this module.
func upstream(t *testing.T, folder string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "shared", "fixtures", "ahp", folder))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the upstream fixtures are not beside this clone")
	}
	return dir
}

// notOurs are the fixture reducers of channels that this host does not have.
var notOurs = map[string]string{
	"resourceWatch": "this host has no resource watches: createResourceWatch is not implemented",
}

func TestUpstreamReducerFixtures(t *testing.T) {
	cases, err := testcases.ReadReducers(os.DirFS(upstream(t, "reducers")))
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if why := notOurs[c.Reducer]; why != "" {
				t.Skip(why)
			}
			r := reducers[c.Reducer]
			initial := r.mustDecode(t, c.Initial)
			equalJSON(t, testcases.StripNulls(c.Initial), testcases.StripNulls(ahp.MustMarshal(initial)))
			got := r.apply(t, initial, c.Actions)
			equalJSON(t, testcases.StripNulls(c.Expected), testcases.StripNulls(ahp.MustMarshal(got)))
		})
	}
}

func TestReducerFixtures(t *testing.T) {
	cases, err := testcases.Reducers()
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, c := range cases {
		r, ours := reducers[c.Reducer]
		if !ours {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for _, raw := range c.Actions {
				tag, _ := ahp.ActionTag(raw)
				covered[tag] = true
			}
			got := r.apply(t, r.mustDecode(t, c.Initial), c.Actions)
			equalJSON(t, c.Expected, ahp.MustMarshal(got))
			// A snapshot after k actions, followed by the others, has the same result.
			for k := range c.Actions {
				snapshot := ahp.MustMarshal(r.apply(t, r.mustDecode(t, c.Initial), c.Actions[:k]))
				replayed := r.apply(t, r.mustDecode(t, snapshot), c.Actions[k:])
				equalJSON(t, c.Expected, ahp.MustMarshal(replayed))
			}
		})
	}
	for _, r := range reducers {
		for _, row := range r.Actions.Rows() {
			if !row.Alias && !covered[row.Type] {
				t.Errorf("no fixture in testcases/reducers has %s", row.Type)
			}
		}
	}
}

// notHere are the round-trip types of channels that this host does not have.
var notHere = map[string]string{
	"ChangesetOperationTarget": "this host has no changesets",
	"ChatInputQuestion":        "this host has no chats",
	"StringOrMarkdown":         "a type of chats, which this host does not have",
	"JsonRpcMessage":           "messages are read by ahp/peer, which has tests of its own",
}

func TestUpstreamRoundTrips(t *testing.T) {
	dir := upstream(t, "round-trips")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c struct {
				Type              string      `json:"type"`
				Input             ahp.Value   `json:"input"`
				AcceptableOutputs []ahp.Value `json:"acceptableOutputs"`
				PreservedOutput   ahp.Value   `json:"preservedOutput,omitzero"`
			}
			if err := ahp.Unmarshal(data, &c); err != nil {
				t.Fatal(err)
			}
			if why := notHere[c.Type]; why != "" {
				t.Skip(why)
			}
			want := c.AcceptableOutputs[0]
			if c.PreservedOutput != nil {
				want = c.PreservedOutput
			}
			equalJSON(t, want, roundTrip(t, c.Type, c.Input))
		})
	}
}

func roundTrip(t *testing.T, typ string, in ahp.Value) ahp.Value {
	t.Helper()
	var v any
	switch typ {
	case "ActionEnvelope":
		v = new(ahp.ActionEnvelope)
	case "Customization":
		v = new(session.Customization)
	case "SessionSummary":
		v = new(session.SessionSummary)
	case "PartialSessionSummary":
		v = new(session.PartialSessionSummary)
	default:
		t.Fatalf("no type %s", typ)
	}
	if err := ahp.Unmarshal(in, v); err != nil {
		t.Fatal(err)
	}
	return ahp.MustMarshal(v)
}
