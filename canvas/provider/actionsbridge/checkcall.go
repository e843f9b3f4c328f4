package actionsbridge

import (
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Action returns a tool of the manifest.
func (m *Manifest) Action(name string) (Action, bool) {
	if m == nil {
		return Action{}, false
	}
	n, ok := m.index[name]
	if !ok {
		return Action{}, false
	}
	a := m.Actions[n]
	c, listed := m.capabilities[name]
	if listed {
		a.Support, a.Reason = c.Support, c.Reason
	}
	a.Debug = a.Debug || c.Class == "debug"
	return a, true
}

// debugName reports whether an action runs scripts, by its name.
func debugName(name string) bool {
	return strings.HasPrefix(name, "debug.") || name == "browser.run_javascript"
}

// CheckOptions say what holds for a call beside the manifest.
type CheckOptions struct {
	// Scripts allows actions that run scripts.
	Scripts bool
	// Names are names that can be called although the manifest does not have them.
	Names []string
}

// CheckCall checks a call, in this order: the name is known, it is not one that runs
// scripts, its capabilities exist, and the arguments fit its schema.
func (m *Manifest) CheckCall(name string, args ahp.Value) *Error {
	return m.CheckCallWith(name, args, CheckOptions{})
}

// CheckCallWith is CheckCall with options.
func (m *Manifest) CheckCallWith(name string, args ahp.Value, o CheckOptions) *Error {
	a, declared := m.Action(name)
	if !declared && !slices.Contains(o.Names, name) || !SafeName(name) {
		return NewError(CodeUnknownAction, toolEvidence{cleanText(name, maxString)}, "the page has no action %q", cleanText(name, maxString))
	}
	if a.Hidden != "" {
		return NewError(CodeUnknownAction, toolEvidence{name}, "the action %q cannot be called: %s", name, a.Hidden)
	}
	if !o.Scripts && (a.Debug || debugName(name) || m.class(name) == "debug") {
		e := NewError(CodePermissionDenied, map[string]string{"policy": "scripts", "tool": name}, "%q runs scripts in the page, which no person has allowed", name)
		e.NextStep = "use an action that is made for the task, or ask the person to allow scripts in the card"
		return e
	}
	if e := m.checkCapabilities(name, a.Requires); e != nil {
		return e
	}
	return m.checkArguments(name, args)
}

// toolEvidence is the evidence about an action.
type toolEvidence struct {
	Tool string `json:"tool"`
}

func (m *Manifest) class(name string) string {
	if m == nil {
		return ""
	}
	return m.capabilities[name].Class
}

// checkCapabilities finds a capability that the runtime does not have.
func (m *Manifest) checkCapabilities(name string, requires []string) *Error {
	if m == nil {
		return nil
	}
	for _, need := range append([]string{name}, requires...) {
		c, listed := m.capabilities[need]
		if !listed || c.Support != Unsupported {
			continue
		}
		return NewError(CodeCapabilityUnavailable, capabilityEvidence{need, m.Host, c.Reason}, "the runtime cannot do %q", need)
	}
	return nil
}

type capabilityEvidence struct {
	Capability string `json:"capability"`
	Host       string `json:"host"`
	Reason     string `json:"reason"`
}

func (m *Manifest) checkArguments(name string, args ahp.Value) *Error {
	if absent(args) {
		args = ahp.Value("{}")
	}
	if !args.IsValid() || args.Kind() != '{' {
		return NewError(CodeInvalidInput, pathEvidence{name, "", "type"}, "the arguments of %q are a JSON object", name)
	}
	if len(args) > maxArguments {
		return NewError(CodeInvalidInput, pathEvidence{name, "", "maxLength"}, "the arguments of %q have %d bytes, at most %d are allowed", name, len(args), maxArguments)
	}
	if m == nil {
		return nil
	}
	if v := m.inputs[name].Check(args); v != nil {
		return NewError(CodeInvalidInput, pathEvidence{name, v.Path, v.Rule}, "the arguments of %q do not fit its schema: %s", name, v.Message)
	}
	return nil
}

// CheckResult checks a value against the result schema of an action, if it has one.
func (m *Manifest) CheckResult(name string, output ahp.Value) *Error {
	if m == nil {
		return nil
	}
	if v := m.results[name].Check(output); v != nil {
		return NewError(CodeInvalidResult, pathEvidence{name, v.Path, v.Rule}, "the result of %q does not fit its schema: %s", name, v.Message)
	}
	return nil
}

// Signal finds the enabled signal that a dom_event reports, and returns its declared name.
// ok is false if there is none, or if the payload does not fit its schema.
func (m *Manifest) Signal(item Item) (name string, ok bool) {
	if m == nil {
		return "", false
	}
	for _, s := range m.Signals {
		if !s.Enabled || s.hidden || !s.named(item) {
			continue
		}
		payload := item.Payload
		if payload == nil {
			payload = ahp.Null
		}
		if s.schema != nil && s.schema.Check(payload) != nil {
			continue
		}
		return s.Name, true
	}
	return "", false
}

// named reports whether an event has the signal's name, as its name or its DOM event.
func (s *Signal) named(item Item) bool {
	for _, n := range []string{item.Name, item.Event} {
		if n != "" && (n == s.Name || n == s.Event) {
			return true
		}
	}
	return false
}
