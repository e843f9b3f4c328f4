package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

func Example() {
	state, err := wire.Reduce("canvas",
		ahp.Value(`{"instanceId":"plan","canvasId":"board","extensionId":"board","title":"Trip","availability":"ready","provider":{"kind":"server"}}`),
		[]ahp.Value{ahp.Value(`{"type":"canvas/updated","title":null,"availability":"stale"}`), ahp.Value(`{"type":"canvas/later"}`)})
	fmt.Println(string(state), err)
	origin, err := wire.RoundTrip("Origin", ahp.Value(`{"clientSeq":9007199254740993,"clientId":"c1"}`))
	fmt.Println(string(origin), err)
	// Output:
	// {"instanceId":"plan","canvasId":"board","extensionId":"board","availability":"stale","provider":{"kind":"server"}} <nil>
	// {"clientId":"c1","clientSeq":9007199254740993} <nil>
}

// TestRefuses checks that what no host sends is an error and never a state.
func TestRefuses(t *testing.T) {
	session := ahp.Value(`{"provider":"p","title":"T","status":1,"lifecycle":"ready","activeClients":[],"chats":[]}`)
	for _, tt := range []struct {
		kind    string
		initial ahp.Value
		action  string
		want    string
	}{
		{"chat", session, `{"type":"x/y"}`, `no reducer "chat"`},
		{"session", ahp.Value(`{"title":"T"}`), `{"type":"x/y"}`, "initial state: /provider: required"},
		{"session", session, `{}`, "action 0: action: /type: required"},
		{"session", session, `7`, "action 0: "},
		{"session", session, `{"type":"session/titleChanged"}`, "/title: required"},
		{"session", ahp.Value(strings.Replace(string(session), `"chats":[]`, `"chats":[{"resource":"r","title":"t","status":1,"modifiedAt":"m"}]`, 1)),
			`{"type":"session/chatUpdated","chat":"r","changes":{"title":null}}`, "action 0: /title: required"},
	} {
		state, err := wire.Reduce(tt.kind, tt.initial, []ahp.Value{ahp.Value(tt.action)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: got %s, %v, want %q", tt.kind, tt.action, state, err, tt.want)
		}
	}
	for name, in := range map[string]string{"Nothing": `{}`, "Origin": `{"clientId":"c"}`, wire.StateAction: `{"type":7}`, "CanvasState": `[]`} {
		if out, err := wire.RoundTrip(name, ahp.Value(in)); err == nil {
			t.Errorf("%s %s: got %s", name, in, out)
		}
	}
}

// FuzzRoundTrip checks that the output of a round-trip survives another one
// unchanged.
func FuzzRoundTrip(f *testing.F) {
	names := wire.Names()
	cases, err := testcases.RoundTrips()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add(uint8(slices.Index(names, c.Type)), []byte(c.Input))
	}
	f.Fuzz(func(t *testing.T, which uint8, in []byte) {
		name := names[int(which)%len(names)]
		once, err := wire.RoundTrip(name, in)
		if err != nil {
			return
		}
		twice, err := wire.RoundTrip(name, once)
		if err != nil || !ahp.Equal(once, twice) {
			t.Fatalf("%s %s\nonce  %s\ntwice %s (%v)", name, in, once, twice, err)
		}
	})
}
