package sample

import (
	"context"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Definition defines a canvas around a value of type S. Functions treat the value
// as immutable: they return a new one. It is saved as JSON.
type Definition[S any] struct {
	// Extension identifies the provider in a host's registry.
	Extension canvas.Extension
	// Declaration is what the provider declares.
	Declaration canvas.Declaration
	// Page holds index.html and the page's other files. [Files] completes it.
	Page fs.FS
	// Open applies an input that was not applied before. The value is the zero S at
	// first; the input is nil if there is none.
	Open func(s S, input ahp.Value) (S, error)
	// Agent holds the actions that an agent may invoke. An absent input arrives
	// as {}.
	Agent map[string]Action[S]
	// Person holds the actions that pages may request.
	Person map[string]Action[S]
	// Decisions are the names in Person that only a person can decide. A View of an
	// agent's connection is refused ([canvas.ErrNotAPerson]).
	Decisions []string
	// Show returns what Views receive of the value, at most 60 KiB of JSON. If it is
	// nil, they receive the whole value.
	Show func(S) any
	// Title returns the title that people see above the canvas.
	Title func(S) string
	// Status returns the status that people see above the canvas.
	Status func(S) string
	// Attention returns why the canvas waits for a person now; "" if it does not. It may be
	// nil.
	Attention func(S) string
	// Copy returns the canvas as a file, for a person who saves a copy; nil offers none.
	Copy func(S) (canvas.Content, error)
	// CopyName is the name of that file.
	CopyName string
	// Asks says that the canvas asks a question: an open with another input withdraws
	// the instance's earlier events, so that an answer to the question before is not
	// taken for one to the new question. Actions withdraw them by Result.Withdraw.
	Asks bool
	// Links lets the page offer links to the person; see [canvas.Opened].
	Links bool
}

// Action returns a changed value, or the same one, and its result for the caller.
type Action[S any] func(s S, call Call) (S, Result, error)

// Call is one invocation of an Action.
type Call struct {
	// InstanceID names the instance in its session.
	InstanceID string
	// Action is the name under which the Action was invoked.
	Action string
	// Input is the input, {} if there was none.
	Input ahp.Value
}

// Result is the outcome of an Action.
type Result struct {
	// Value is the answer to the caller; nil is none.
	Value any
	// Event is an event for the session's agent; nil is none. It is raised only if
	// the value changed.
	Event any
	// Note is what people read about the change: a line that follows the name of who made
	// it. "" adds none for a person, and the action's name for an agent.
	Note string
	// Withdraw withdraws the instance's earlier events if the value changed.
	Withdraw bool
}

// JSONCopy is a Definition.Copy: the value as indented JSON.
func JSONCopy[S any](s S) (canvas.Content, error) {
	data, err := ahp.Marshal(s)
	if err == nil {
		err = data.Indent()
	}
	return canvas.Content{Data: append(data, '\n'), ContentType: "application/json"}, err
}

// With makes an Action of a function that takes a decoded input. An input that
// cannot be decoded fails with code.
func With[S, P any](code string, fn func(s S, call Call, in P) (S, Result, error)) Action[S] {
	return func(s S, call Call) (S, Result, error) {
		var in P
		if err := ahp.Unmarshal(call.Input, &in); err != nil {
			return s, Result{}, canvas.Errorf(code, "the input does not fit action %q: %v", call.Action, err)
		}
		return fn(s, call, in)
	}
}

// Provider provides the canvas of a Definition. Make it with [New].
type Provider struct {
	canvas.Func
	extension   canvas.Extension
	declaration canvas.Declaration
}

// Extension identifies the provider in a host's registry.
func (p *Provider) Extension() canvas.Extension { return p.extension }

// Declarations returns the one canvas that the provider declares.
func (p *Provider) Declarations() []canvas.Declaration { return []canvas.Declaration{p.declaration} }

// New returns the provider of a canvas.
func New[S any](d Definition[S]) *Provider {
	d.Page = Files(d.Page)
	if d.Show == nil {
		d.Show = func(s S) any { return s }
	}
	return &Provider{Func: d.open, extension: d.Extension, declaration: d.Declaration}
}

// open opens an instance, or applies an input to the open one.
func (d Definition[S]) open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	i, isOpen := req.Current.(*instance[S])
	if !isOpen {
		i = &instance[S]{Definition: d, h: h}
		if err := i.restore(req.Saved); err != nil {
			return canvas.Opened{}, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.apply(req); err != nil {
		return canvas.Opened{}, err
	}
	if err := i.attend(); err != nil {
		return canvas.Opened{}, err
	}
	if i.Copy != nil {
		if err := supported(h.OfferCopy(i.CopyName, copyPath)); err != nil {
			return canvas.Opened{}, err
		}
	}
	return canvas.Opened{Instance: i, URL: h.ContentURL("/"), Title: d.Title(i.State), Status: d.Status(i.State), Links: d.Links}, nil
}
