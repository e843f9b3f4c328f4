package sample

import (
	"context"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// request is what a View says.
type request struct {
	Sample string    `json:"sample"` // "hello" or "do"
	Ref    ahp.Value `json:"ref,omitzero"`
	Action string    `json:"action,omitzero"`
	Input  ahp.Value `json:"input,omitzero"`
}

// reply is what the View that asked hears.
type reply struct {
	Sample  string    `json:"sample"` // "done" or "refused"
	Ref     ahp.Value `json:"ref,omitzero"`
	Value   any       `json:"value,omitzero"`
	Code    string    `json:"code,omitzero"`
	Message string    `json:"message,omitzero"`
}

// stateMessage is called under the lock.
func (i *instance[S]) stateMessage() ahp.Value {
	return ahp.MustMarshal(struct {
		Sample   string `json:"sample"`
		Revision int64  `json:"revision"`
		State    any    `json:"state"`
	}{"state", i.Revision, i.Show(i.State)})
}

// Message hears a View. What is none of ours is ignored: other pages may share
// the channel. A View that is gone needs no answer, so errors of PostTo are none.
func (i *instance[S]) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	var r request
	if ahp.Unmarshal(payload, &r) != nil {
		return
	}
	switch r.Sample {
	case "hello":
		i.show(from)
	case "do":
		value, err := i.run(i.Person, r.Action, r.Input)
		if err != nil {
			i.refuse(from, r, err)
			return
		}
		_ = i.h.PostTo(i.h.Context(), from, ahp.MustMarshal(reply{Sample: "done", Ref: r.Ref, Value: value}))
	}
}

// show sends the state to one View, in the order of revisions.
func (i *instance[S]) show(to canvas.View) {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = i.h.PostTo(i.h.Context(), to, i.stateMessage())
}

// refuse says why, and what holds instead of what the View may have drawn.
func (i *instance[S]) refuse(to canvas.View, r request, err error) {
	refusal := reply{Sample: "refused", Ref: r.Ref, Code: canvas.CodeHandlerError, Message: err.Error()}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		refusal.Code, refusal.Message = e.Code, e.Message
	}
	_ = i.h.PostTo(i.h.Context(), to, ahp.MustMarshal(refusal))
	i.show(to)
}

// ViewGone needs nothing: nothing is kept of a View.
func (i *instance[S]) ViewGone(canvas.View) {}
