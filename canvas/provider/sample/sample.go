package sample

import (
	"context"
	"fmt"
	"io/fs"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Definition is one kind of canvas around a value S. S is a value: functions
// return another one and never change what they are given. It is saved as JSON.
type Definition[S any] struct {
	// Page has index.html and what goes with it.
	Page fs.FS
	// Open brings the value to an input that it was not opened with before. It is
	// the zero S at first, and input is nil where there is none.
	Open func(s S, input ahp.Value) (S, error)
	// Agent and Person are who may do what. An input of nil arrives as {}.
	Agent, Person map[string]Action[S]
	// Show is what Views get of the value; at most 60 KiB of JSON. Nil is all of it.
	Show func(S) any
	// Title and Status are what people see around the canvas.
	Title, Status func(S) string
}

// Action changes a value, or only answers. Its result reaches who asked.
type Action[S any] func(s S, call Call) (S, Result, error)

// Call is what an Action is asked.
type Call struct {
	InstanceID string
	Action     string
	Input      ahp.Value
}

// Result is what comes of an Action: a value for who asked, and an event for the
// agent that waits for one. Nil is none.
type Result struct{ Value, Event any }

// With makes an Action of a function of a decoded input. An input that does not
// fit is refused with code.
func With[S, P any](code string, fn func(s S, call Call, in P) (S, Result, error)) Action[S] {
	return func(s S, call Call) (S, Result, error) {
		var in P
		if err := ahp.Unmarshal(call.Input, &in); err != nil {
			return s, Result{}, canvas.Errorf(code, "the input does not fit: %v", err)
		}
		return fn(s, call, in)
	}
}

// New returns the provider of a kind of canvas.
func New[S any](d Definition[S]) canvas.Provider {
	files := layered{d.Page, Page(page)}
	if d.Show == nil {
		d.Show = func(s S) any { return s }
	}
	return canvas.Func(func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		i, live := req.Current.(*instance[S])
		if !live {
			i = &instance[S]{Definition: d, h: h, files: files}
			if err := i.restore(req.Saved); err != nil {
				return canvas.Opened{}, err
			}
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		if err := i.apply(req); err != nil {
			return canvas.Opened{}, err
		}
		return canvas.Opened{Instance: i, URL: h.ContentURL("/"), Title: d.Title(i.State), Status: d.Status(i.State)}, nil
	})
}

// held is an instance's value and what else outlives a provider's generation.
type held[S any] struct {
	State    S         `json:"state"`
	Revision int64     `json:"revision"`       // counts changes
	Input    ahp.Value `json:"input,omitzero"` // that was applied last
}

// instance is one open canvas.
type instance[S any] struct {
	Definition[S]
	h     *canvas.Handle
	files fs.FS

	mu      sync.Mutex
	held[S] // guarded by mu; State itself is never changed
}

func (i *instance[S]) restore(saved []byte) error {
	if saved == nil {
		return nil
	}
	if err := ahp.Unmarshal(saved, &i.held); err != nil {
		return fmt.Errorf("what was saved of the canvas cannot be read: %w", err)
	}
	return nil
}

// apply brings the value to what it is opened with. An input that was applied
// before changes nothing: a canvas that is opened again keeps what the person
// made of it.
func (i *instance[S]) apply(req canvas.OpenRequest) error {
	if i.Revision > 0 && (req.Input == nil || ahp.Equal(req.Input, i.Input)) {
		return nil
	}
	after, err := i.Open(i.State, req.Input)
	if err != nil {
		return err
	}
	return i.changed(held[S]{after, i.Revision + 1, req.Input})
}

// Invoke runs an action of the agent.
func (i *instance[S]) Invoke(_ context.Context, name string, input ahp.Value) (ahp.Value, error) {
	value, err := i.run(i.Agent, name, input)
	if err != nil || value == nil {
		return nil, err
	}
	return ahp.Marshal(value)
}

// run is the one way in which a value changes, for agents and people. The event
// is raised under the lock too: agents hear in the order of revisions.
func (i *instance[S]) run(may map[string]Action[S], name string, input ahp.Value) (any, error) {
	do := may[name]
	if do == nil {
		return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", name)
	}
	if len(input) == 0 {
		input = ahp.Value("{}")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	after, result, err := do(i.State, Call{i.h.InstanceID(), name, input})
	if err != nil {
		return nil, err
	}
	if ahp.Equal(ahp.MustMarshal(i.State), ahp.MustMarshal(after)) {
		return result.Value, nil
	}
	if err := i.changed(held[S]{after, i.Revision + 1, i.Input}); err != nil {
		return nil, err
	}
	if result.Event == nil {
		return result.Value, nil
	}
	return result.Value, i.h.Raise(ahp.MustMarshal(result.Event))
}

// changed makes a value the one that holds: saved, then shown to everybody. It
// is called under the lock.
func (i *instance[S]) changed(after held[S]) error {
	if err := i.h.Save(i.h.Context(), ahp.MustMarshal(after)); err != nil {
		return err
	}
	i.held = after
	if err := i.h.Post(i.h.Context(), i.stateMessage()); err != nil {
		return err
	}
	return i.h.Update(i.h.Context(), canvas.Update{Title: ahp.Set(i.Title(after.State)), Status: ahp.Set(i.Status(after.State))})
}

// Close needs nothing: the handle's end is the instance's.
func (i *instance[S]) Close(context.Context) error { return nil }

// Read serves the page.
func (i *instance[S]) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return canvas.ReadFile(i.files, req)
}
