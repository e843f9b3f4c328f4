package mcp

import (
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// capabilitiesArgs are the arguments of list_canvas_capabilities.
type capabilitiesArgs struct {
	Session  string    `json:"session,omitzero"`
	Describe string    `json:"describe,omitzero"`
	Unknown  ahp.Value `json:",embed"`
}

// listArgs are the arguments of list_open_canvases.
type listArgs struct {
	Session string    `json:"session,omitzero"`
	Unknown ahp.Value `json:",embed"`
}

// openArgs are the arguments of open_canvas.
type openArgs struct {
	Session     string    `json:"session,omitzero"`
	ExtensionID string    `json:"extensionId,omitzero"`
	CanvasID    string    `json:"canvasId"`
	InstanceID  *string   `json:"instanceId,omitzero"`
	Input       ahp.Value `json:"input,omitzero"`
	Unknown     ahp.Value `json:",embed"`
}

// instance returns the chosen instance id, or "" if it is absent and the host
// generates one. A given empty id is an error.
func (a openArgs) instance() (string, error) {
	if a.InstanceID == nil {
		return "", nil
	}
	return *a.InstanceID, canvas.CheckInstanceID(*a.InstanceID)
}

// invokeArgs are the arguments of invoke_canvas_action.
type invokeArgs struct {
	Session    string    `json:"session,omitzero"`
	InstanceID string    `json:"instanceId"`
	ActionName string    `json:"actionName"`
	Input      ahp.Value `json:"input,omitzero"`
	Unknown    ahp.Value `json:",embed"`
}

// closeArgs are the arguments of close_canvas.
type closeArgs struct {
	Session    string    `json:"session,omitzero"`
	InstanceID string    `json:"instanceId"`
	Unknown    ahp.Value `json:",embed"`
}

// lookArgs are the arguments of look_at_canvas.
type lookArgs struct {
	Session    string    `json:"session,omitzero"`
	InstanceID string    `json:"instanceId"`
	Width      *int      `json:"width,omitzero"`
	Height     *int      `json:"height,omitzero"`
	Theme      string    `json:"theme,omitzero"`
	Full       *bool     `json:"full,omitzero"`
	Wait       *float64  `json:"wait,omitzero"` // in seconds
	Picture    *bool     `json:"picture,omitzero"`
	Unknown    ahp.Value `json:",embed"`
}

// waitArgs are the arguments of wait_for_canvas_events.
type waitArgs struct {
	Session string    `json:"session,omitzero"`
	After   *int64    `json:"after,omitzero"`
	Timeout *float64  `json:"timeout,omitzero"` // in seconds
	Unknown ahp.Value `json:",embed"`
}

// check validates what the decoder does not.
func (a waitArgs) check() error {
	switch {
	case a.After != nil && *a.After < 0:
		return &canvas.Error{Code: canvas.CodeInputInvalid, Path: "/after", Rule: "minimum", Message: "the cursor cannot be negative"}
	case a.Timeout != nil && *a.Timeout < 0:
		return &canvas.Error{Code: canvas.CodeInputInvalid, Path: "/timeout", Rule: "minimum", Message: "the timeout cannot be negative"}
	}
	return nil
}

// cursor returns the cursor at which the wait begins.
func (a waitArgs) cursor() int64 {
	if a.After == nil {
		return canvas.SinceOpen
	}
	return *a.After
}

// decode reads a tool's arguments into args; absent arguments are an empty object.
// unknown is the member of args that receives unknown arguments.
func decode(raw ahp.Value, args any, unknown *ahp.Value) error {
	if len(raw) == 0 || raw.Kind() == 'n' {
		raw = ahp.Value("{}")
	}
	if err := ahp.Unmarshal(raw, args); err != nil {
		return invalid(err.Error())
	}
	if name, ok := firstMember(*unknown); ok {
		return &canvas.Error{Code: canvas.CodeInputInvalid, Path: "/" + pointer.Replace(name), Rule: "additionalProperties",
			Message: fmt.Sprintf("unknown argument %q", name)}
	}
	return nil
}

// pointer escapes a member name for a JSON Pointer.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// invalid turns the decoder's "path: rule" into an error with both.
func invalid(text string) *canvas.Error {
	e := &canvas.Error{Code: canvas.CodeInputInvalid, Message: "invalid arguments: " + text}
	if place, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(place, "/") {
		e.Path, e.Rule = place, "type"
		if rest == "required" {
			e.Rule = "required"
		}
	}
	return e
}

// firstMember returns the name of an object's first member.
func firstMember(v ahp.Value) (string, bool) {
	if len(v) == 0 {
		return "", false
	}
	var members map[string]ahp.Value
	if err := ahp.Unmarshal(v, &members); err != nil {
		return "", false
	}
	first, ok := "", false
	for name := range members {
		if !ok || name < first {
			first, ok = name, true
		}
	}
	return first, ok
}

// absent returns nil for null: an optional input that is null counts as absent.
func absent(v ahp.Value) ahp.Value {
	if v.Kind() == 'n' {
		return nil
	}
	return v
}
