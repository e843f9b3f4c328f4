package canvas

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// InvokeArgs says which action of which open canvas to run.
type InvokeArgs struct {
	Session    string // its URI
	InstanceID string
	ActionName string
	Input      ahp.Value // a JSON object; nil where absent
}

// Invoke runs an action of an open canvas and returns its value, nil where it
// has none (canvas.md section 3). What the provider dispatched before it answered
// is applied when Invoke returns. Its errors are *[Error], or the context's.
func (s *Service) Invoke(ctx context.Context, a InvokeArgs) (ahp.Value, error) {
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
	if err := s.limits.validate(schema, a.Input); err != nil {
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
		err = s.limits.checkValue(value)
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// planInvoke finds a live instance and its action's schema. The flow's turn
// keeps the instance what it is until the flow ends, but for its availability.
func (s *Service) planInvoke(k key, action string) (i *instance, schema *schema, err error) {
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
		if schema, declared = d.actions[action]; !declared {
			return errorf(CodeNoHandler, "canvas %q has no action %q", i.canvasID, action)
		}
		return nil
	})
	return i, schema, err
}

// find returns an open instance.
func (s *Service) find(tx *channels.ReadTx, k key) (*instance, error) {
	if _, ok := sessionState(tx, k.session); !ok {
		return nil, sessionNotFound(k.session)
	}
	i := s.instances.at(k)
	if i == nil {
		return nil, errorf(CodeInstanceNotFound, "no canvas is open as %q", k.instance)
	}
	return i, nil
}

// checkValue holds an action's value against the limits.
func (l *Limits) checkValue(v ahp.Value) error {
	if v == nil {
		return nil
	}
	if len(v) > l.AnswerBytes {
		return errorf(CodeHandlerError, "the provider answered with %d bytes, at most %d are allowed", len(v), l.AnswerBytes)
	}
	if !v.IsValid() {
		return errorf(CodeHandlerError, "the provider answered with something that is not JSON")
	}
	if err := l.shape(v); err != nil {
		return errorf(CodeHandlerError, "the provider's answer %v", err)
	}
	return nil
}
