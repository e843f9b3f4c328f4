package sample

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// record is the saved form of an instance.
type record[S any] struct {
	State    S         `json:"state"`
	Revision int64     `json:"revision"`       // the number of changes
	Input    ahp.Value `json:"input,omitzero"` // the input that was applied last
}

// instance is one open canvas.
type instance[S any] struct {
	Definition[S]
	h *canvas.Handle

	mu        sync.Mutex
	record[S] // guarded by mu; State itself is immutable
}

func (i *instance[S]) restore(saved []byte) error {
	if saved == nil {
		return nil
	}
	if err := ahp.Unmarshal(saved, &i.record); err != nil {
		return fmt.Errorf("the saved data of the canvas cannot be read: %w", err)
	}
	return nil
}

// apply applies the input of an open. An input that was applied before changes
// nothing, so a reopened canvas keeps the person's changes.
func (i *instance[S]) apply(req canvas.OpenRequest) error {
	if i.Revision > 0 && (req.Input == nil || ahp.Equal(req.Input, i.Input)) {
		return nil
	}
	after, err := i.Open(i.State, req.Input)
	if err != nil {
		return err
	}
	next := record[S]{after, i.Revision + 1, req.Input}
	save := i.commit
	if req.Current == nil { // no View has the instance yet, and Opened has its title and status
		save = i.save
	}
	if err := save(next); err != nil || !i.Asks {
		return err
	}
	return supported(i.h.WithdrawEvents())
}

// Invoke runs an action of the agent.
func (i *instance[S]) Invoke(_ context.Context, name string, input ahp.Value) (ahp.Value, error) {
	value, err := i.run(i.Agent, canvas.ByAgent, name, input)
	if err != nil || value == nil {
		return nil, err
	}
	return ahp.Marshal(value)
}

// run runs an action, the only way in which an open instance's value changes. It
// raises the event under the lock, so that events have the order of the changes.
func (i *instance[S]) run(actions map[string]Action[S], who canvas.Actor, name string, input ahp.Value) (any, error) {
	do := actions[name]
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
	if err := i.commit(record[S]{after, i.Revision + 1, i.Input}); err != nil {
		return nil, err
	}
	if result.Note != "" {
		if err := supported(i.h.Note(who, result.Note)); err != nil {
			return nil, err
		}
	}
	if result.Withdraw {
		if err := supported(i.h.WithdrawEvents()); err != nil {
			return nil, err
		}
	}
	if result.Event == nil {
		return result.Value, nil
	}
	return result.Value, supported(i.h.Raise(ahp.MustMarshal(result.Event)))
}

// commit saves a new value and then publishes it. mu is held.
func (i *instance[S]) commit(next record[S]) error {
	if err := i.save(next); err != nil {
		return err
	}
	ctx := i.h.Context()
	if err := i.h.Post(ctx, i.stateMessage()); err != nil {
		return err
	}
	if err := i.attend(); err != nil {
		return err
	}
	return i.h.Update(ctx, canvas.Update{Title: ahp.Set(i.Title(next.State)), Status: ahp.Set(i.Status(next.State))})
}

// attend says whether the canvas waits for a person. mu is held.
func (i *instance[S]) attend() error {
	if i.Attention == nil {
		return nil
	}
	return supported(i.h.Attention(i.Attention(i.State)))
}

// save replaces the value once it is durable, or at once in a client, which cannot
// save. mu is held.
func (i *instance[S]) save(next record[S]) error {
	if err := supported(i.h.Save(i.h.Context(), ahp.MustMarshal(next))); err != nil {
		return err
	}
	i.record = next
	return nil
}

// supported returns err, but nil if it says that a provider in a client cannot do
// this: the canvas works without it.
func supported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// Close does nothing: the instance has only its handle, and the host ends that.
func (i *instance[S]) Close(context.Context) error { return nil }

// copyPath is the content path of Definition.Copy.
const copyPath = "/.sample/copy"

// Read serves the page, and the copy that people save.
func (i *instance[S]) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if i.Copy != nil && "/"+req.Path.Name() == copyPath {
		i.mu.Lock()
		state := i.State
		i.mu.Unlock()
		return i.Copy(state)
	}
	return canvas.ReadFile(i.Page, req)
}
