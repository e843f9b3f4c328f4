package canvas_test

import (
	"reflect"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestChannelKinds: the kinds that a host registers with its log match the rows of
// the table.
func TestChannelKinds(t *testing.T) {
	log := canvastest.New(t, engine.Options{}).Log
	for _, row := range canvas.ChannelKinds {
		kind := log.Kind(row.Scheme + ":/any")
		if kind == nil {
			t.Errorf("%s: the host's log has no kind of scheme %q", row.Name, row.Scheme)
			continue
		}
		if kind.Scheme != row.Scheme || kind.Capability != row.Capability || kind.Actions != row.Actions {
			t.Errorf("%s: the host's kind has scheme %q and capability %q, or another action table; the row is %+v", row.Name, kind.Scheme, kind.Capability, row)
		}
		if reflect.ValueOf(kind.Reduce).Pointer() != reflect.ValueOf(row.Reduce).Pointer() {
			t.Errorf("%s: the host reduces with another function", row.Name)
		}
	}
}

func TestChannelKindOf(t *testing.T) {
	for _, row := range canvas.ChannelKinds {
		if k := canvas.ChannelKindOf(row.Scheme + ":/any"); k == nil || k.Name != row.Name {
			t.Errorf("%s:/any: got %+v", row.Scheme, k)
		}
		if k := canvas.ChannelKindNamed(row.Name); k == nil || k.Scheme != row.Scheme {
			t.Errorf("%q: got %+v", row.Name, k)
		}
		state, err := row.Decode(ahp.Value(`{}`))
		if err == nil && reflect.TypeOf(state) != row.State {
			t.Errorf("%s: Decode returns %T, want %s", row.Name, state, row.State)
		}
	}
	for _, uri := range []string{"", "chat:/one", "ahp-canvas"} {
		if k := canvas.ChannelKindOf(uri); k != nil {
			t.Errorf("%q: got %+v", uri, k)
		}
	}
	if k := canvas.ChannelKindNamed("chat"); k != nil {
		t.Errorf("chat: got %+v", k)
	}
}
