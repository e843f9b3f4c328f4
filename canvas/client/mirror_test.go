package client

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// A snapshot contains all actions up to its number; those are no events after it.
func TestOlderThanTheSnapshot(t *testing.T) {
	const uri = "ahp-canvas:/1"
	m := newMirror()
	b, err := decodeSnapshot(ahp.Snapshot{Resource: uri, FromSeq: 7, State: ahp.Value(
		`{"instanceId":"i","canvasId":"c","extensionId":"e","title":"new","availability":"ready","provider":{"kind":"server"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	m.install(m.add(uri), b)
	for _, tc := range []struct {
		seq    int64
		action string
		event  bool
		title  string
	}{
		{6, `{"type":"canvas/updated","title":"old"}`, false, `"new"`},
		{7, `{"type":"canvas/message","payload":1}`, false, `"new"`},
		{8, `{"type":"canvas/message","payload":1}`, true, `"new"`},
		{9, `{"type":"canvas/updated","title":null}`, true, `null`},
		{10, `{"type":"canvas/fromTheFuture","title":"x"}`, true, `null`},
	} {
		u, err := decodeEnvelope(ahp.ActionEnvelope{Channel: uri, ServerSeq: tc.seq, Action: ahp.Value(tc.action)})
		if err != nil {
			t.Fatal(err)
		}
		_, ok, err := m.apply(u)
		if ok != tc.event || err != nil {
			t.Errorf("%d: event %v, %v", tc.seq, ok, err)
		}
		snap, _ := m.snapshot(uri)
		var state struct {
			Title ahp.Value `json:"title,omitzero"`
		}
		if err := ahp.Unmarshal(ahp.MustMarshal(snap.State), &state); err != nil {
			t.Fatal(err)
		}
		if state.Title == nil {
			state.Title = ahp.Null
		}
		if string(state.Title) != tc.title {
			t.Errorf("%d: title %s, want %s", tc.seq, state.Title, tc.title)
		}
	}
}
