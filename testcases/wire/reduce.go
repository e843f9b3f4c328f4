package wire

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Kind is a channel kind as a fixture sees it.
type Kind struct {
	Actions *ahp.ActionTable
	Decode  func(ahp.Value) (channels.State, error)
	Reduce  func(channels.State, ahp.Action) (channels.State, channels.Outcome, error)
}

func decodeAs[S any](raw ahp.Value) (channels.State, error) {
	var s S
	err := ahp.Unmarshal(raw, &s)
	return s, err
}

var kinds = map[string]Kind{
	"root":    {session.RootActions, decodeAs[session.RootState], session.ReduceRoot},
	"session": {session.Actions, decodeAs[session.State], session.Reduce},
	"canvas":  {canvas.Actions, decodeAs[canvas.CanvasState], canvas.Reduce},
}

// KindOf returns a channel kind: "root", "session" or "canvas". ours is false where
// this project does not have it.
func KindOf(name string) (k Kind, ours bool) {
	k, ours = kinds[name]
	return k, ours
}

// Reduce applies actions in order to a state of a channel kind and returns the state after them, all as JSON. A type
// that the kind does not know changes nothing; a known one that cannot be read
// is an error, because no host sends it.
func Reduce(name string, initial ahp.Value, actions []ahp.Value) (ahp.Value, error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("no reducer %q", name)
	}
	state, err := k.Decode(initial)
	if err != nil {
		return nil, fmt.Errorf("initial state: %w", err)
	}
	for i, raw := range actions {
		tag, err := ahp.ActionTag(raw)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if k.Actions.Row(tag) == nil {
			continue
		}
		read, err := k.Actions.Decode(raw)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if state, _, err = k.Reduce(state, read.Action); err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
	}
	return ahp.Marshal(state)
}
