package client

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// envelope is a decoded envelope. action is nil if its type is unknown, or the
// envelope is a refusal.
type envelope struct {
	ahp.ActionEnvelope
	tag    string
	action ahp.Action
}

func decodeEnvelope(raw ahp.ActionEnvelope) (envelope, error) {
	e := envelope{ActionEnvelope: raw}
	tag, err := ahp.ActionTag(raw.Action)
	e.tag = tag
	if raw.RejectionReason != "" {
		return e, nil // an invalid action can be the reason
	}
	if err != nil {
		return e, &ProtocolError{Rule: "an action must have a type", Err: err}
	}
	k := canvas.ChannelKindOf(raw.Channel)
	if k == nil || k.Actions.Row(tag) == nil {
		return e, nil
	}
	enc, err := k.Actions.Decode(raw.Action)
	if err != nil {
		return e, &ProtocolError{Rule: "an action must be valid", Err: err}
	}
	e.action = enc.Action
	return e, nil
}

// decodedSnapshot is a decoded snapshot.
type decodedSnapshot struct {
	ahp.Snapshot
	kind  *canvas.ChannelKind // nil if the client knows no kind of this scheme
	state any
}

func decodeSnapshot(raw ahp.Snapshot) (decodedSnapshot, error) {
	s := decodedSnapshot{Snapshot: raw, kind: canvas.ChannelKindOf(raw.Resource)}
	if s.kind == nil {
		return s, nil
	}
	state, err := s.kind.Decode(raw.State)
	if err != nil {
		return s, &ProtocolError{Rule: "a snapshot must be valid", Err: fmt.Errorf("%s: %w", raw.Resource, err)}
	}
	s.state = state
	return s, nil
}

func decodeSnapshots(list []ahp.Snapshot) ([]decodedSnapshot, error) {
	decoded := make([]decodedSnapshot, 0, len(list))
	for _, raw := range list {
		s, err := decodeSnapshot(raw)
		if err != nil {
			return nil, err
		}
		decoded = append(decoded, s)
	}
	return decoded, nil
}
