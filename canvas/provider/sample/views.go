package sample

import (
	"context"
	"errors"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// request is a View's message.
type request struct {
	Sample string    `json:"sample"` // "hello" or "do"
	Ref    ahp.Value `json:"ref,omitzero"`
	Action string    `json:"action,omitzero"`
	Input  ahp.Value `json:"input,omitzero"`
}

// reply answers a "do".
type reply struct {
	Sample  string    `json:"sample"` // "done" or "refused"
	Ref     ahp.Value `json:"ref,omitzero"`
	Value   any       `json:"value,omitzero"`
	Code    string    `json:"code,omitzero"`
	Message string    `json:"message,omitzero"`
}

// stateMessage returns the message with the current state. mu is held.
func (i *instance[S]) stateMessage() ahp.Value {
	return ahp.MustMarshal(struct {
		Sample   string `json:"sample"`
		Revision int64  `json:"revision"`
		State    any    `json:"state"`
	}{"state", i.Revision, i.Show(i.State)})
}

// Message handles a View's message. It ignores messages of another form: the page
// may have other uses for the channel.
func (i *instance[S]) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	var r request
	if ahp.Unmarshal(payload, &r) != nil {
		return
	}
	switch r.Sample {
	case "hello":
		i.sendState(from)
	case "do":
		value, err := i.do(from, r)
		if err != nil {
			i.refuse(from, r, err)
			return
		}
		i.send(from, ahp.MustMarshal(reply{Sample: "done", Ref: r.Ref, Value: value}))
	}
}

// do runs an action of a View. A decision needs a View that can be a person's.
func (i *instance[S]) do(from canvas.View, r request) (any, error) {
	if slices.Contains(i.Decisions, r.Action) {
		if err := from.MustBePerson(); err != nil {
			return nil, err
		}
	}
	return i.run(i.Person, from.Actor(), r.Action, r.Input)
}

// sendState sends the state to one View. It holds mu, so that the View receives its
// states in the order of their revisions.
func (i *instance[S]) sendState(to canvas.View) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.send(to, i.stateMessage())
}

// refuse sends the reason of a failure, and the state, which the View may have drawn
// differently.
func (i *instance[S]) refuse(to canvas.View, r request, err error) {
	refusal := reply{Sample: "refused", Ref: r.Ref, Code: canvas.CodeHandlerError, Message: err.Error()}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		refusal.Code, refusal.Message = e.Code, e.Message
	}
	i.send(to, ahp.MustMarshal(refusal))
	i.sendState(to)
}

// send sends a message to one View, or to all if the provider's side cannot address
// one. It ignores errors: a View that has left needs no answer.
func (i *instance[S]) send(to canvas.View, payload ahp.Value) {
	if err := i.h.PostTo(i.h.Context(), to, payload); errors.Is(err, canvas.ErrUnsupported) {
		_ = i.h.Post(i.h.Context(), payload)
	}
}

// ViewGone does nothing: an instance keeps nothing for a View.
func (i *instance[S]) ViewGone(canvas.View) {}
