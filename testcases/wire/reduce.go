package wire

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Reduce applies actions in order to a state of a channel kind and returns the
// state after them, all as JSON. An action whose type the kind does not have
// changes nothing. An action of a known type that cannot be decoded is an error,
// because no host sends one.
func Reduce(name string, initial ahp.Value, actions []ahp.Value) (ahp.Value, error) {
	k := canvas.ChannelKindNamed(name)
	if k == nil {
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
