package view

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// tag is the value of the member "x-ahp" in view/1 messages.
const tag = "view/1"

const (
	maxValue = 64 << 10 // bytes of a value as JSON
	maxText  = 4 << 10  // bytes of an error message
)

// toPage is a message of the provider: an action to run, or a request to reload the
// page and keep its scroll position.
type toPage struct {
	Tag    string    `json:"x-ahp"`
	Type   string    `json:"type"` // "invoke", "reload"
	ID     string    `json:"id,omitzero"`
	Action string    `json:"action,omitzero"`
	Input  ahp.Value `json:"input,omitzero"`
}

// fromPage is a message of a page.
type fromPage struct {
	Tag   string     `json:"x-ahp"`
	Type  string     `json:"type"` // "hello", "bye", "result", "error"
	ID    string     `json:"id,omitzero"`
	Value ahp.Value  `json:"value,omitzero"`
	Error *pageError `json:"error,omitzero"`
}

type pageError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// tagged reports whether a payload is view/1, valid or not.
func tagged(payload ahp.Value) bool {
	if payload.Kind() != '{' {
		return false
	}
	var head struct {
		Tag ahp.Value `json:"x-ahp,omitzero"`
	}
	return ahp.Unmarshal(payload, &head) == nil && ahp.Equal(head.Tag, ahp.MustMarshal(tag))
}

// answer is the outcome of a call.
type answer struct {
	value ahp.Value
	err   error
}

// answer returns the outcome in a result or error message.
func (m *fromPage) answer() answer {
	switch {
	case m.Type == "result" && len(m.Value) > maxValue:
		return answer{err: canvas.Errorf(canvas.CodeLimitExceeded, "the action ran; its value was dropped: it has %d bytes, at most %d are allowed", len(m.Value), maxValue)}
	case m.Type == "result":
		return answer{value: m.Value}
	case m.Error == nil:
		return answer{err: canvas.Errorf(canvas.CodeHandlerError, "the page gave no reason")}
	}
	code, text := m.Error.Code, cut(m.Error.Message)
	if !codePattern.MatchString(code) {
		code = canvas.CodeHandlerError
	}
	if text == "" {
		text = "the page gave no reason"
	}
	return answer{err: canvas.Errorf(code, "%s", text)}
}

// codePattern is the syntax of a page's error code, which agents and logs show.
var codePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,127}$`)

// cut shortens a text without splitting a character.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return strings.TrimSpace(s) + "…"
}
