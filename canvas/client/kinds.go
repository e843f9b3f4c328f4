package client

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// update is an envelope that has been read. action is nil where the type is
// unknown, or the envelope a refusal.
type update struct {
	ahp.ActionEnvelope
	tag    string
	action ahp.Action
}

func readEnvelope(e ahp.ActionEnvelope) (update, error) {
	u := update{ActionEnvelope: e}
	tag, err := ahp.ActionTag(e.Action)
	u.tag = tag
	if e.RejectionReason != "" {
		return u, nil // it may be refused for just that
	}
	if err != nil {
		return u, &ProtocolError{Rule: "an action has a type", Err: err}
	}
	k := canvas.ChannelKindOf(e.Channel)
	if k == nil || k.Actions.Row(tag) == nil {
		return u, nil
	}
	enc, err := k.Actions.Decode(e.Action)
	if err != nil {
		return u, &ProtocolError{Rule: "an action can be read", Err: err}
	}
	u.action = enc.Action
	return u, nil
}

// base is a snapshot that has been read.
type base struct {
	ahp.Snapshot
	kind  *canvas.ChannelKind // nil if the client knows no kind of this scheme
	state any
}

func readSnapshot(s ahp.Snapshot) (base, error) {
	b := base{Snapshot: s, kind: canvas.ChannelKindOf(s.Resource)}
	if b.kind == nil {
		return b, nil
	}
	state, err := b.kind.Decode(s.State)
	if err != nil {
		return b, &ProtocolError{Rule: "a snapshot can be read", Err: fmt.Errorf("%s: %w", s.Resource, err)}
	}
	b.state = state
	return b, nil
}

func readSnapshots(list []ahp.Snapshot) ([]base, error) {
	bases := make([]base, 0, len(list))
	for _, s := range list {
		b, err := readSnapshot(s)
		if err != nil {
			return nil, err
		}
		bases = append(bases, b)
	}
	return bases, nil
}
