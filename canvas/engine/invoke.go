package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Invoke runs an action of an open canvas and returns its value, nil if it has none
// (canvas/PROTOCOL.md section 3). What the provider published before it answered is
// applied when Invoke returns. Its errors are *[canvas.Error], or the context's.
func (e *Engine) Invoke(ctx context.Context, args canvas.InvokeArgs) (value ahp.Value, err error) {
	ctx, span := e.trace.Start(ctx, "canvas invoke")
	defer func() { span.End(codeOf(err)) }()
	span.Set("canvas.action", args.ActionName)
	k := key{args.Session, args.InstanceID}
	release, err := e.turns.take(ctx, k)
	if err != nil {
		return nil, err
	}
	defer release()
	i, schema, err := e.planInvoke(k, args.ActionName)
	if err != nil {
		return nil, err
	}
	if err := e.limits.Input(schema, args.Input); err != nil {
		return nil, worded(i, args.ActionName, err)
	}
	c := newCall(ctx, i.reg, e.timeouts.Invoke)
	c.inst = i
	if _, err := e.beginCall(c); err != nil {
		return nil, err
	}
	defer c.end()
	target, notes := i.current, i.notes.Load()
	caller := canvas.Caller(ctx)
	i.caller.Store(&caller)
	value, err = ask(c, func(ctx context.Context) (ahp.Value, error) { return target.Invoke(ctx, args.ActionName, args.Input) }, nil)
	if err == nil {
		err = e.limits.ActionValue(value)
	}
	if err != nil {
		return nil, err
	}
	if i.notes.Load() == notes { // the provider did not say it better
		e.happenedNow(i, agentOf(ctx), "used “"+args.ActionName+"”")
	}
	return value, nil
}

// worded returns the refusal of an input in the instance's words, if it has its own.
func worded(i *instance, action string, err error) error {
	refuser, ok := i.current.(canvas.InputRefuser)
	if refusal, refused := errors.AsType[*canvas.Error](err); ok && refused && refusal.Code == canvas.CodeInputInvalid {
		return refuser.RefuseInput(action, refusal)
	}
	return err
}

// planInvoke finds a ready instance and its action's schema. While the flow has its turn,
// nothing but the availability of the instance can change.
func (e *Engine) planInvoke(k key, action string) (i *instance, schema *jsonschema.Schema, err error) {
	err = e.locked(func(tx *channels.ReadTx) error {
		if i, err = e.find(tx, k); err != nil {
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
			return noAction(i.canvasID, action, d)
		}
		return nil
	})
	return i, schema, err
}

// noAction names the actions that there are, so that an agent need not ask for them.
func noAction(canvasID, action string, d *check.Declared) error {
	if len(d.Actions) == 0 {
		return canvas.Errorf(canvas.CodeNoHandler, "canvas %q has no action %q; it has no actions", canvasID, action)
	}
	var names []string
	for _, a := range d.Actions {
		names = append(names, a.Name)
	}
	return canvas.Errorf(canvas.CodeNoHandler, "canvas %q has no action %q; it has %s", canvasID, action, strings.Join(names, ", "))
}

// find returns an open instance.
func (e *Engine) find(tx *channels.ReadTx, k key) (*instance, error) {
	if _, ok := sessionState(tx, k.session); !ok {
		return nil, sessionNotFound(k.session)
	}
	i := e.instances.at(k)
	if i == nil {
		return nil, canvas.Errorf(canvas.CodeInstanceNotFound, "no canvas is open as %q", k.instance)
	}
	return i, nil
}
