package board

import (
	"context"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// request is what a View says.
type request struct {
	Board  string    `json:"board"` // "hello" or "do"
	Ref    ahp.Value `json:"ref,omitzero"`
	Action string    `json:"action,omitzero"`
	Input  ahp.Value `json:"input,omitzero"`
}

// reply is what the View that asked hears.
type reply struct {
	Board   string    `json:"board"` // "done" or "refused"
	Ref     ahp.Value `json:"ref,omitzero"`
	Value   any       `json:"value,omitzero"`
	Code    string    `json:"code,omitzero"`
	Message string    `json:"message,omitzero"`
}

func stateMessage(s State) ahp.Value {
	return ahp.MustMarshal(struct {
		Board string `json:"board"`
		State
	}{"state", s})
}

// Message hears a View. What is none of the board's is ignored: other pages may
// share the channel.
func (i *instance) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	var r request
	if ahp.Unmarshal(payload, &r) != nil {
		return
	}
	switch r.Board {
	case "hello":
		i.show(from)
	case "do":
		value, changed, err := i.run(r.Action, r.Input)
		if err != nil {
			i.refuse(from, r, err)
			return
		}
		_ = i.h.PostTo(from, ahp.MustMarshal(reply{Board: "done", Ref: r.Ref, Value: value})) // it may be gone
		if changed {
			i.tellAgent(r)
		}
	}
}

// show sends the state to one View, in the order of revisions.
func (i *instance) show(to canvas.View) {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = i.h.PostTo(to, stateMessage(i.board.State)) // it may be gone
}

// refuse says why, and what holds instead of what the View may have drawn.
func (i *instance) refuse(to canvas.View, r request, err error) {
	refusal := reply{Board: "refused", Ref: r.Ref, Code: canvas.CodeHandlerError, Message: err.Error()}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		refusal.Code, refusal.Message = e.Code, e.Message
	}
	_ = i.h.PostTo(to, ahp.MustMarshal(refusal)) // it may be gone
	i.show(to)
}

// tellAgent raises what a person did, for an agent that waits for it.
func (i *instance) tellAgent(r request) {
	_ = i.h.Raise(ahp.MustMarshal(struct { // dead handles have nobody to tell
		Type   string    `json:"type"`
		Action string    `json:"action"`
		Input  ahp.Value `json:"input,omitzero"`
	}{"board.changed", r.Action, r.Input}))
}

// ViewGone needs nothing: a board keeps nothing of its Views.
func (i *instance) ViewGone(canvas.View) {}
