package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// moody is a provider whose opens fail with an error unless it is nil.
type moody struct{ fails error }

func (m *moody) Open(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
	return canvas.Opened{Instance: m}, m.fails
}
func (m *moody) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (m *moody) Close(context.Context) error                                  { return nil }

// A registration holds a call only until the call ends, however it ends.
func TestCallsAreForgotten(t *testing.T) {
	log := channels.New(channels.Options{})
	s := New(Options{Log: log})
	sessions := session.New(session.Options{Log: log, Prepare: s.Prepare})
	defer s.Shutdown(t.Context())
	if err := sessions.Ensure("ahp-session:/1", "x"); err != nil {
		t.Fatal(err)
	}
	p := &moody{}
	r, err := s.Register(canvas.Extension{ID: "moody"}, p, canvas.Declaration{CanvasID: "c", DisplayName: "C"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		fails  error // the provider
		keeps  error // the store
		opened bool
	}{{name: "opened", opened: true}, {name: "refused", fails: errors.New("no")}, {name: "not-kept", keeps: errors.New("full")}} {
		p.fails = tc.fails
		s.SetStore(func() error { return tc.keeps }, func() error { return nil })
		if _, err := s.Open(t.Context(), canvas.OpenArgs{Session: "ahp-session:/1", CanvasID: "c", InstanceID: tc.name}); (err == nil) != tc.opened {
			t.Errorf("%s: %v", tc.name, err)
		}
		s.log.View(func(*channels.ReadTx) {
			if n := len(r.(*Registration).calls); n > 0 {
				t.Errorf("%s: %d calls are left", tc.name, n)
			}
		})
	}
}
