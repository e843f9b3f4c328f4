package client

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// kind is what the mirror knows of the channels of one scheme: the host's own
// table and reducer.
type kind struct {
	actions *ahp.ActionTable
	state   func(raw ahp.Value) (any, error)
	reduce  func(state any, a ahp.Action) (next any, err error)
}

// kinds by scheme. A channel of another scheme is followed without a state.
var kinds = map[string]*kind{
	ahp.SchemeRoot:    kindOf[session.RootState](session.RootActions, session.ReduceRoot),
	ahp.SchemeSession: kindOf[session.State](session.Actions, session.Reduce),
	ahp.SchemeCanvas:  kindOf[canvas.CanvasState](canvas.Actions, canvas.Reduce),
}

// kindOf takes a reducer in the form of the log, whose types it need not name; a
// signal returns the state that it was given.
func kindOf[S, State, Outcome any](actions *ahp.ActionTable, reduce func(State, ahp.Action) (State, Outcome, error)) *kind {
	return &kind{
		actions: actions,
		state: func(raw ahp.Value) (any, error) {
			var s S
			err := ahp.Unmarshal(raw, &s)
			return s, err
		},
		reduce: func(state any, a ahp.Action) (any, error) {
			next, _, err := reduce(state.(State), a)
			return next, err
		},
	}
}

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
	k := kinds[ahp.SchemeOf(e.Channel)]
	if k == nil || k.actions.Row(tag) == nil {
		return u, nil
	}
	enc, err := k.actions.Decode(e.Action)
	if err != nil {
		return u, &ProtocolError{Rule: "an action can be read", Err: err}
	}
	u.action = enc.Action
	return u, nil
}

// base is a snapshot that has been read.
type base struct {
	ahp.Snapshot
	kind  *kind
	state any
}

func readSnapshot(s ahp.Snapshot) (base, error) {
	b := base{Snapshot: s, kind: kinds[ahp.SchemeOf(s.Resource)]}
	if b.kind == nil {
		return b, nil
	}
	state, err := b.kind.state(s.State)
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
