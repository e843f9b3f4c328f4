package view

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// tag is what view/1 messages carry as their member "x-ahp".
const tag = "view/1"

const (
	maxValue = 64 << 10 // bytes of a page's value, as JSON
	maxText  = 4 << 10  // bytes of an error's message
)

// toPage is what a provider says: an action to run, or that the page is to load
// again what it shows, where it shows it.
type toPage struct {
	Tag    string    `json:"x-ahp"`
	Type   string    `json:"type"` // "invoke", "reload"
	ID     string    `json:"id,omitzero"`
	Action string    `json:"action,omitzero"`
	Input  ahp.Value `json:"input,omitzero"`
}

// fromPage is what a page says.
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

// tagged reports whether a payload is of view/1, well formed or not.
func tagged(payload ahp.Value) bool {
	if payload.Kind() != '{' {
		return false
	}
	var head struct {
		Tag ahp.Value `json:"x-ahp,omitzero"`
	}
	return ahp.Unmarshal(payload, &head) == nil && ahp.Equal(head.Tag, ahp.MustMarshal(tag))
}

// answer is what a call ends with.
type answer struct {
	value ahp.Value
	err   error
}

// answer reads a result or an error.
func (m *fromPage) answer() answer {
	switch {
	case m.Type == "result" && len(m.Value) > maxValue:
		return answer{err: canvas.Errorf(canvas.CodeHandlerError, "the page answered with %d bytes, at most %d are allowed", len(m.Value), maxValue)}
	case m.Type == "result":
		return answer{value: m.Value}
	case m.Error == nil:
		return answer{err: canvas.Errorf(canvas.CodeHandlerError, "the page failed without saying why")}
	}
	code, text := m.Error.Code, cut(m.Error.Message)
	if !codePattern.MatchString(code) {
		code = canvas.CodeHandlerError
	}
	if text == "" {
		text = "the page failed without saying why"
	}
	return answer{err: canvas.Errorf(code, "%s", text)}
}

// codePattern is what a page's code may be; agents and logs see it.
var codePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,127}$`)

// cut bounds a text without breaking a character.
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
