package check

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
)

// schema returns the bounds of one declared schema.
func (l *Limits) schema() jsonschema.Limits {
	return jsonschema.Limits{Bytes: l.SchemaBytes, Depth: l.SchemaDepth}
}

// Input checks the input of an open or an action against the limits and its
// schema. An absent input counts as an empty object, so it is valid if nothing is
// required (canvas/PROTOCOL.md section 3). Its errors are *canvas.Error.
func (l *Limits) Input(s *jsonschema.Schema, input ahp.Value) error {
	if len(input) > l.InputBytes {
		return badInput("", "maxLength", fmt.Sprintf("the input has %d bytes, at most %d are allowed", len(input), l.InputBytes))
	}
	if input == nil {
		if s == nil {
			return nil
		}
		input = ahp.Value("{}")
	}
	if !input.IsValid() || input.Kind() != '{' {
		return badInput("", "type", "the input must be a JSON object")
	}
	if err := l.Shape(input); err != nil {
		return badInput("", "limit", "the input "+err.Error())
	}
	switch v := s.Check(input); {
	case v == nil:
		return nil
	case v.Rule == "limit":
		return badInput(v.Path, v.Rule, v.Message)
	default:
		return badInput(v.Path, v.Rule, fmt.Sprintf("the input does not fit at /input%s: %s", v.Path, v.Message))
	}
}

// badInput returns a canvas_input_invalid error at a JSON Pointer into the input.
func badInput(path, rule, message string) error {
	return &canvas.Error{Code: canvas.CodeInputInvalid, Path: "/input" + path, Rule: rule, Message: message}
}
