package canvas

import (
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Declaration is one canvas that a provider offers: what a person calls it, what
// it is for, what it is opened with (a JSON Schema of an object) and its
// actions.
type Declaration = session.ClientCanvasDeclaration

// Action is an action that a canvas understands. Its name may not begin with
// "canvas.".
type Action = session.SessionCanvasAction

// declared is a declaration with its schemas compiled.
type declared struct {
	Declaration
	input   *schema
	actions map[string]*schema // by action name
}

// prepare checks a set of declarations as a whole: one bad entry refuses all.
func (l *Limits) prepare(set []Declaration) ([]*declared, error) {
	if len(set) > l.Canvases {
		return nil, errorf(CodeLimitExceeded, "%d canvases were declared, at most %d are allowed", len(set), l.Canvases)
	}
	out := make([]*declared, 0, len(set))
	seen := map[string]bool{}
	spent := spending{known: map[string]pattern{}}
	for _, d := range set {
		if d.CanvasID == "" || len(d.CanvasID) > maxName || seen[d.CanvasID] {
			return nil, errorf(CodeInputInvalid, "canvas id %q: want 1 to %d bytes, and each id once", d.CanvasID, maxName)
		}
		seen[d.CanvasID] = true
		if d.DisplayName == "" {
			return nil, errorf(CodeInputInvalid, "canvas %q has no displayName", d.CanvasID)
		}
		if err := l.text("displayName", &d.DisplayName); err != nil {
			return nil, errorf(CodeInputInvalid, "canvas %q: its %v", d.CanvasID, err)
		}
		if _, err := ahp.Marshal(d); err != nil {
			return nil, errorf(CodeInputInvalid, "canvas %q cannot be written as JSON: %v", d.CanvasID, err)
		}
		dd, err := l.declare(d, &spent)
		if err != nil {
			return nil, err
		}
		out = append(out, dd)
	}
	return out, nil
}

func (l *Limits) declare(d Declaration, spent *spending) (*declared, error) {
	if len(d.Actions) > l.Actions {
		return nil, errorf(CodeLimitExceeded, "canvas %q declares %d actions, at most %d are allowed", d.CanvasID, len(d.Actions), l.Actions)
	}
	input, err := l.compile(d.InputSchema, spent)
	if err != nil {
		return nil, errorf(CodeInputInvalid, "canvas %q: its input schema %v", d.CanvasID, err)
	}
	dd := &declared{Declaration: d, input: input, actions: make(map[string]*schema, len(d.Actions))}
	dd.Actions, dd.Extra = slices.Clone(d.Actions), unclaimed(d.Extra)
	for _, a := range d.Actions {
		if strings.HasPrefix(a.Name, "canvas.") {
			return nil, errorf(CodeReservedActionName, "canvas %q: action %q: names that begin with \"canvas.\" are reserved", d.CanvasID, a.Name)
		}
		if _, twice := dd.actions[a.Name]; twice || a.Name == "" || len(a.Name) > maxName {
			return nil, errorf(CodeInputInvalid, "canvas %q: action %q: want 1 to %d bytes, and each name once", d.CanvasID, a.Name, maxName)
		}
		if dd.actions[a.Name], err = l.compile(a.InputSchema, spent); err != nil {
			return nil, errorf(CodeInputInvalid, "canvas %q: action %q: its input schema %v", d.CanvasID, a.Name, err)
		}
	}
	return dd, nil
}

// unclaimed leaves out of a declaration's unknown members those that the registry
// says of it: what is sent for them is ignored (canvas.md section 2).
func unclaimed(extra ahp.Value) ahp.Value {
	var members map[string]ahp.Value
	if len(extra) == 0 || ahp.Unmarshal(extra, &members) != nil {
		return nil
	}
	before := len(members)
	for _, name := range []string{"extensionId", "extensionName", "source"} {
		delete(members, name)
	}
	switch len(members) {
	case before:
		return extra
	case 0:
		return nil
	}
	return ahp.MustMarshal(members)
}
