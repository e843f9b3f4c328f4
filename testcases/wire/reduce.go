package wire

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// kind is a channel kind as a fixture sees it.
type kind struct {
	table  *ahp.ActionTable
	decode func(ahp.Value) (channels.State, error)
	reduce func(channels.State, ahp.Action) (channels.State, channels.Outcome, error)
}

func decodeAs[S any](raw ahp.Value) (channels.State, error) {
	var s S
	err := ahp.Unmarshal(raw, &s)
	return s, err
}

var kinds = map[string]kind{
	"root":    {session.RootActions, decodeAs[session.RootState], session.ReduceRoot},
	"session": {session.Actions, decodeAs[session.State], session.Reduce},
	"canvas":  {canvas.Actions, decodeAs[canvas.CanvasState], canvas.Reduce},
}

// HasReducer reports whether this project has the channel kind at all.
func HasReducer(name string) bool {
	_, ok := kinds[name]
	return ok
}

// Reduce applies actions in order to a state of a channel kind ("root",
// "session", "canvas") and returns the state after them, all as JSON. A type
// that the kind does not know changes nothing; a known one that cannot be read
// is an error, because no host sends it.
func Reduce(name string, initial ahp.Value, actions []ahp.Value) (ahp.Value, error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("no reducer %q", name)
	}
	state, err := k.decode(initial)
	if err != nil {
		return nil, fmt.Errorf("initial state: %w", err)
	}
	for i, raw := range actions {
		tag, err := ahp.ActionTag(raw)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if k.table.Row(tag) == nil {
			continue
		}
		read, err := k.table.Decode(raw)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if state, _, err = k.reduce(state, read.Action); err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
	}
	return ahp.Marshal(state)
}
