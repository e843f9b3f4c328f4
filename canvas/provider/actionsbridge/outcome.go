package actionsbridge

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// malformed is the error for an item that breaks a rule.
func malformed(path, format string, args ...any) *Error {
	e := NewError(CodeInvalidInput, pathEvidence{Path: path}, format, args...)
	e.NextStep = "" // it is for a runtime
	return e
}

// pathEvidence is the evidence of an error about a place in a value.
type pathEvidence struct {
	Tool string `json:"tool,omitzero"`
	Path string `json:"path"`
	Rule string `json:"rule,omitzero"`
}

// errorItem is an action_error of this side.
func errorItem(e *Error, callID, runtimeID string) ahp.Value {
	return Item{Type: TypeError, CallID: callID, RuntimeID: runtimeID, Err: e.Object()}.Encode()
}

// Outcome returns what an answer says: the value of an output, or the error. An output
// whose member ok is exactly false is an error, and so is an answer that cannot be read.
func Outcome(item Item) (ahp.Value, *Error) {
	switch {
	case item.Type == TypeError:
		if e, ok := readError(item.Err); ok {
			return nil, e
		}
	case item.Type == TypeOutput && item.Output != nil:
		return outputOutcome(item.Output)
	}
	return nil, NewError(CodeHandlerFailed, nil, "the runtime's answer cannot be read")
}

func outputOutcome(output ahp.Value) (ahp.Value, *Error) {
	if output.Kind() != '{' {
		return output, nil
	}
	var o struct {
		OK  ahp.Value `json:"ok,omitzero"`
		Err ahp.Value `json:"error,omitzero"`
	}
	if ahp.Unmarshal(output, &o) != nil || o.OK == nil || o.OK.Kind() != 'f' {
		return output, nil
	}
	if o.Err != nil {
		if e, ok := readError(o.Err); ok {
			return nil, e
		}
	}
	return nil, NewError(CodeHandlerFailed, nil, "the page reported a failure without a code")
}

// FunctionCallOutput returns an output in the form of the Responses API, which has it as a
// text: this is the only place where an output is serialized into a string.
func FunctionCallOutput(callID string, output ahp.Value) ahp.Value {
	text := output.Clone()
	_ = text.Compact() // an output was decoded; a broken one is passed on as text
	return ahp.MustMarshal(struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output string `json:"output"`
	}{"function_call_output", callID, string(text)})
}

// FunctionCall reads a function call in the form of the Responses API: its arguments are
// JSON in a text. The call has the item's call_id as its ID.
func FunctionCall(item ahp.Value) (Call, *Error) {
	var f struct {
		Type      string `json:"type,omitzero"`
		CallID    string `json:"call_id,omitzero"`
		Name      string `json:"name,omitzero"`
		Arguments string `json:"arguments,omitzero"`
	}
	if err := ahp.Unmarshal(item, &f); err != nil {
		return Call{}, NewError(CodeInvalidInput, pathEvidence{}, "the function call cannot be read: %v", err)
	}
	if f.Type != "function_call" || f.Name == "" {
		return Call{}, NewError(CodeInvalidInput, pathEvidence{Path: "/type"}, "want an item of type function_call with a name")
	}
	args := ahp.Value(f.Arguments)
	if f.Arguments == "" {
		args = ahp.Value("{}")
	}
	if !args.IsValid() || args.Kind() != '{' {
		return Call{}, NewError(CodeInvalidInput, pathEvidence{Tool: cleanText(f.Name, maxString), Path: "/arguments"}, "arguments is the text of a JSON object")
	}
	return Call{ID: f.CallID, Name: f.Name, Arguments: args}, nil
}

// Call is one call of a runtime's action.
type Call struct {
	// ID is the caller's id for the call; "" makes one. An id that is pending is refused.
	ID string
	// RuntimeID is the runtime that is called.
	RuntimeID string
	// Name is the action.
	Name string
	// Arguments is a JSON object; nil is an empty one.
	Arguments ahp.Value
	// Timeout is how long the runtime may take: at most ten minutes; 0 is Options.Timeout.
	Timeout time.Duration
}
