package session_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestConfigPermits: a value that an action changes in any way must be sessionMutable.
func TestConfigPermits(t *testing.T) {
	for _, tc := range []struct{ name, action, refused string }{
		{"a mutable value", `{"type":"session/configChanged","config":{"a":2}}`, ""},
		{"a fixed value", `{"type":"session/configChanged","config":{"b":2}}`, `\"b\"`},
		{"a value of no property", `{"type":"session/configChanged","config":{"z":2}}`, `\"z\"`},
		{"replacing drops a fixed value", `{"type":"session/configChanged","config":{"a":2},"replace":true}`, `\"b\"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, session.Options{})
			if err := b.svc.Ensure("ahp-session:/a", "A"); err != nil {
				t.Fatal(err)
			}
			uri := "ahp-session:/configured"
			err := b.log.Update(func(tx *channels.Tx) error {
				return tx.Create(uri, "", session.State{Config: &session.Config{
					Schema: ahp.Value(`{"type":"object","properties":{"a":{"sessionMutable":true},"b":{}}}`),
					Values: map[string]ahp.Value{"a": ahp.Value("1"), "b": ahp.Value("1")},
				}})
			})
			if err != nil {
				t.Fatal(err)
			}
			s, box := b.connect(1, "c1", uri)
			b.send(s, uri, tc.action)
			got := box.take()
			_, reason, refused := strings.Cut(got, `"rejectionReason":`)
			if got == "" || refused != (tc.refused != "") || !strings.Contains(reason, tc.refused) {
				t.Errorf("want a refusal of %q, have %s", tc.refused, got)
			}
		})
	}
}

// TestOlderSpellingNeedsItsMember: null removes the sender's entry, and an absent member
// is an error.
func TestOlderSpellingNeedsItsMember(t *testing.T) {
	b := newBench(t, session.Options{})
	if err := b.svc.Ensure("ahp-session:/a", "A"); err != nil {
		t.Fatal(err)
	}
	s, box := b.connect(1, "c1", "ahp-session:/a")
	b.send(s, "ahp-session:/a", `{"type":"session/activeClientChanged"}`)
	if got := box.take(); !strings.Contains(got, `"rejectionReason":"session/activeClientChanged: /activeClient: required"`) {
		t.Errorf("have %s", got)
	}
}

// TestRedact: a client without the canvas capability does not see canvases.
func TestRedact(t *testing.T) {
	b := newBench(t, session.Options{})
	if err := b.svc.Ensure("ahp-session:/a", "A"); err != nil {
		t.Fatal(err)
	}
	err := b.log.Update(func(tx *channels.Tx) error {
		if err := tx.Append("ahp-session:/a", session.CanvasesChanged{Canvases: []session.SessionCanvasDeclaration{}}); err != nil {
			return err
		}
		return tx.Append("ahp-session:/a", session.OpenCanvasesChanged{OpenCanvases: []session.OpenCanvasRef{}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, caps := range []ahp.Capabilities{nil, {ahp.CapabilityCanvas}} {
		s := &channels.Subscriber{ID: 1, ClientID: "c1", Version: ahp.V0_6_0, Caps: caps, Sink: &inbox{}}
		var snap *channels.Snapshot
		err := b.log.Update(func(tx *channels.Tx) (err error) {
			snap, err = tx.Subscribe(s, "ahp-session:/a")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		state := string(snap.Encode().State)
		for _, member := range []string{`"canvases":[]`, `"openCanvases":[]`} {
			if strings.Contains(state, member) != caps.Has(ahp.CapabilityCanvas) {
				t.Errorf("capabilities %v: %s in %s", caps, member, state)
			}
		}
	}
}
