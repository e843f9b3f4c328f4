package check

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Limits checks values against a host's limits. Its methods may be called
// concurrently once its fields are set.
type Limits struct {
	canvas.Limits
	// AllowSchemes are URL schemes that canvases may point to in addition to the
	// policy's own, in lower case and without the colon.
	AllowSchemes []string
	// Schemas bounds the memory of compiled schemas; nil keeps all.
	Schemas *jsonschema.Memory
}

// Text checks a display name: it is bounded and holds no control
// characters, which could break out of a line. A nil text passes.
func (l *Limits) Text(name string, s *string) error {
	if s == nil {
		return nil
	}
	if n := utf8.RuneCountInString(*s); n > l.TextLength {
		return fmt.Errorf("%s has %d code points, at most %d are allowed", name, n, l.TextLength)
	}
	for _, r := range *s {
		if unicode.IsControl(r) {
			return fmt.Errorf("%s holds the control character %U", name, r)
		}
	}
	if !utf8.ValidString(*s) {
		return fmt.Errorf("%s is not valid UTF-8", name)
	}
	return nil
}

// Shape checks the nesting and the number of values of a valid JSON text: clients
// check frames against such limits themselves.
func (l *Limits) Shape(v ahp.Value) error {
	switch depth, values := ahp.Measure(v); {
	case depth > l.Depth:
		return fmt.Errorf("is nested %d levels deep, at most %d are allowed", depth, l.Depth)
	case values > l.Values:
		return fmt.Errorf("holds %d values, at most %d are allowed", values, l.Values)
	}
	return nil
}

// MessageSize checks the size of a message's payload.
func (l *Limits) MessageSize(payload ahp.Value) error {
	if len(payload) > l.MessageBytes {
		return fmt.Errorf("the payload has %d bytes, at most %d are allowed", len(payload), l.MessageBytes)
	}
	return nil
}

// Message checks a message's payload or an event, of which nothing is known.
func (l *Limits) Message(payload ahp.Value) error {
	if err := l.MessageSize(payload); err != nil {
		return err
	}
	if !payload.IsValid() {
		return errors.New("the payload is not JSON")
	}
	return l.DecodedMessage(payload)
}

// DecodedMessage checks a message's payload that was decoded, and so is valid JSON.
func (l *Limits) DecodedMessage(payload ahp.Value) error {
	if err := l.MessageSize(payload); err != nil {
		return err
	}
	if err := l.Shape(payload); err != nil {
		return fmt.Errorf("the payload %w", err)
	}
	return nil
}

// ActionValue checks the value of an action; nil is no value. The action ran, so a value
// above a limit is not the provider's failure. Its errors are *canvas.Error.
func (l *Limits) ActionValue(v ahp.Value) error {
	if v == nil {
		return nil
	}
	if len(v) > l.AnswerBytes {
		return valueDropped(fmt.Sprintf("has %d bytes, at most %d are allowed", len(v), l.AnswerBytes))
	}
	if !v.IsValid() {
		return canvas.Errorf(canvas.CodeHandlerError, "the provider answered with something that is not JSON")
	}
	if err := l.Shape(v); err != nil {
		return valueDropped(err.Error())
	}
	return nil
}

// valueDropped returns the error of an action whose value is above a limit. The caller
// must learn that the action ran, or it runs the action again.
func valueDropped(why string) error {
	return canvas.Errorf(canvas.CodeLimitExceeded, "the action ran; its value was dropped: it %s", why)
}

// Update checks what a provider wants to show of an instance. Its texts are never refused;
// see [Limits.CleanUpdate].
func (l *Limits) Update(instanceID string, u canvas.Update, source session.CanvasProviderSource) error {
	if u.URL.Value == nil {
		return nil
	}
	return l.URL(instanceID, *u.URL.Value, source)
}
