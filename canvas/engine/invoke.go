package engine

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Invoke runs an action of an open canvas and returns its value, nil where it
// has none (canvas.md section 3). What the provider dispatched before it answered
// is applied when Invoke returns. Its errors are *[Error], or the context's.
func (s *Engine) Invoke(ctx context.Context, a canvas.InvokeArgs) (ahp.Value, error) {
	k := key{a.Session, a.InstanceID}
	release, err := s.flows.acquire(ctx, k)
	if err != nil {
		return nil, err
	}
	defer release()
	i, schema, err := s.planInvoke(k, a.ActionName)
	if err != nil {
		return nil, err
	}
	if err := s.limits.Input(schema, a.Input); err != nil {
		return nil, err
	}
	c, err := s.begin(ctx, i.reg, s.timeouts.Invoke)
	if err != nil {
		return nil, err
	}
	defer s.end(c)
	target := i.current
	value, err := ask(s, c, func(ctx context.Context) (ahp.Value, error) { return target.Invoke(ctx, a.ActionName, a.Input) }, nil)
	if err == nil {
		err = s.limits.ActionValue(value)
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// planInvoke finds a live instance and its action's schema. The flow's turn
// keeps the instance what it is until the flow ends, but for its availability.
func (s *Engine) planInvoke(k key, action string) (i *instance, schema *jsonschema.Schema, err error) {
	err = s.locked(func(tx *channels.ReadTx) error {
		if i, err = s.find(tx, k); err != nil {
			return err
		}
		if st, _ := i.state(tx); st.Availability != session.Ready {
			return errUnavailable
		}
		d := i.reg.find(i.canvasID)
		if d == nil {
			return errUnavailable
		}
		var declared bool
		if schema, declared = d.ActionInput[action]; !declared {
			return canvas.Errorf(canvas.CodeNoHandler, "canvas %q has no action %q", i.canvasID, action)
		}
		return nil
	})
	return i, schema, err
}

// find returns an open instance.
func (s *Engine) find(tx *channels.ReadTx, k key) (*instance, error) {
	if _, ok := sessionState(tx, k.session); !ok {
		return nil, sessionNotFound(k.session)
	}
	i := s.instances.at(k)
	if i == nil {
		return nil, canvas.Errorf(canvas.CodeInstanceNotFound, "no canvas is open as %q", k.instance)
	}
	return i, nil
}
