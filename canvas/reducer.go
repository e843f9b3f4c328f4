package canvas

import (
	"bytes"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Reduce applies an action to a [CanvasState]. It is pure. An action other than
// [Updated] is a signal: it does not change the state.
func Reduce(state channels.State, a ahp.Action) (channels.State, channels.Outcome, error) {
	u, ok := a.(Updated)
	if !ok {
		return state, channels.Signal, nil
	}
	return state.(CanvasState).Apply(u), channels.Applied, nil
}

// Apply returns the state with an update applied.
func (s CanvasState) Apply(u Updated) CanvasState {
	s.Title = u.Title.Or(s.Title)
	s.Status = u.Status.Or(s.Status)
	s.URL = u.URL.Or(s.URL)
	if u.Availability != nil {
		s.Availability = *u.Availability
	}
	if u.IsPrivate != nil {
		s.IsPrivate = *u.IsPrivate
	}
	if u.Meta != nil {
		s.Meta = mergeMeta(s.Meta, u.Meta)
	}
	if u.Input.Present {
		s.Input = nil
		if u.Input.Value != nil {
			s.Input = *u.Input.Value
		}
	}
	return s
}

// Without removes the members that would not change s. It reports whether any member
// remains.
func (u Updated) Without(s CanvasState) (Updated, bool) {
	after := s.Apply(u)
	if same(s.Title, after.Title) {
		u.Title = ahp.Field[string]{}
	}
	if same(s.Status, after.Status) {
		u.Status = ahp.Field[string]{}
	}
	if same(s.URL, after.URL) {
		u.URL = ahp.Field[string]{}
	}
	if s.Availability == after.Availability {
		u.Availability = nil
	}
	if s.IsPrivate == after.IsPrivate {
		u.IsPrivate = nil
	}
	if bytes.Equal(s.Input, after.Input) {
		u.Input = ahp.Field[ahp.Value]{}
	}
	if ahp.Equal(s.Meta, after.Meta) {
		u.Meta = nil
	}
	left := u.Title.Present || u.Status.Present || u.URL.Present || u.Availability != nil || u.Input.Present || u.IsPrivate != nil || u.Meta != nil
	return u, left
}

func same(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}
