package aap

import (
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// MessageType is the type of a page's message that reports an interaction.
const MessageType = "canvas:interaction"

// Limits of one interaction.
const (
	maxAction  = 128      // code points
	maxElement = 1024     // code points
	maxData    = 48 << 10 // bytes of JSON
	maxDepth   = 32       // JSON levels of data
	maxRef     = 64       // bytes
)

// Interaction is what a person did in a page, before it is stored.
type Interaction struct {
	// Action is what the person did: "click", "submit" or any other word.
	Action string
	// Element names the element; "" if there is none.
	Element string
	// CanvasFile is the page: a relative path in the agent's canvas folder.
	CanvasFile string
	// Data is any JSON; nil if there is none.
	Data ahp.Value
	// Ref makes repeating safe: an interaction with the ref of a stored one is answered
	// with that record. "" if the sender does not repeat.
	Ref string
	// Source is passed on to watchers, and is not stored: it tells a watcher which
	// interactions it submitted itself.
	Source string
}

// message is an interaction as pages and HTTP clients send it. Members that are not
// here are ignored.
type message struct {
	Type       ahp.Value `json:"type,omitzero"`
	Action     ahp.Value `json:"action,omitzero"`
	Element    ahp.Value `json:"element,omitzero"`
	CanvasFile ahp.Value `json:"canvasFile,omitzero"`
	Data       ahp.Value `json:"data,omitzero"`
	Ref        ahp.Value `json:"ref,omitzero"`
}

// ParseMessage decodes a message of a page. The canvas file is not the page's to say, so
// a member of that name is ignored. It reports false if the payload is no interaction.
// If the interaction is not valid, the result has at least its Ref.
func ParseMessage(payload []byte) (in Interaction, ok bool, err error) {
	var m message
	if ahp.Unmarshal(payload, &m) != nil || !isText(m.Type, MessageType) {
		return in, false, nil
	}
	in.Ref = ref(m.Ref)
	err = m.read(&in, false)
	return in, true, err
}

// ParseRequest decodes the body of a POST. Its error is an *Error.
func ParseRequest(body []byte) (in Interaction, err error) {
	var m message
	if ahp.Value(body).Kind() != '{' || ahp.Unmarshal(body, &m) != nil {
		return in, errorf(CodeInvalidRequest, "", "The body must be a JSON object without duplicate members")
	}
	return in, m.read(&in, true)
}

// read copies the members, in the order in which errors are reported.
func (m *message) read(in *Interaction, withFile bool) (err error) {
	if in.Action, err = required(m.Action, "action"); err != nil {
		return err
	}
	if withFile {
		if in.CanvasFile, err = required(m.CanvasFile, "canvasFile"); err != nil {
			return err
		}
	}
	if in.Element, err = elementText(m.Element); err != nil {
		return err
	}
	if kind := m.Data.Kind(); kind != 'n' && kind != 0 {
		in.Data = m.Data.Clone()
	}
	return in.validate(withFile)
}

// validate checks the limits, of interactions from Go programs too.
func (in *Interaction) validate(withFile bool) error {
	switch {
	case in.Action == "":
		return missing("action")
	case strings.TrimSpace(in.Action) == "":
		return errorf(CodeInvalidField, "action", "action must not be only white space")
	case !utf8.ValidString(in.Action) || utf8.RuneCountInString(in.Action) > maxAction:
		return errorf(CodeInvalidField, "action", "action must have at most %d characters", maxAction)
	case withFile && in.CanvasFile == "":
		return missing("canvasFile")
	case withFile && !ValidPath(in.CanvasFile):
		return badPath("canvasFile")
	case !utf8.ValidString(in.Element) || utf8.RuneCountInString(in.Element) > maxElement:
		return errorf(CodeInvalidField, "element", "element must have at most %d characters", maxElement)
	}
	return in.validateData()
}

func (in *Interaction) validateData() error {
	if in.Data == nil {
		return nil
	}
	if err := in.Data.Compact(); err != nil {
		return errorf(CodeInvalidField, "data", "data must be JSON")
	}
	if len(in.Data) > maxData {
		return errorf(CodeInvalidField, "data", "data must have at most %d bytes", maxData)
	}
	if depth, _ := ahp.Measure(in.Data); depth > maxDepth {
		return errorf(CodeInvalidField, "data", "data must have at most %d levels", maxDepth)
	}
	return nil
}

// required returns a member that must be a text.
func required(v ahp.Value, field string) (text string, err error) {
	switch v.Kind() {
	case 0, 'n':
		return "", missing(field)
	case '"':
		if ahp.Unmarshal(v, &text) == nil {
			if text == "" {
				return "", missing(field)
			}
			return text, nil
		}
	}
	return "", errorf(CodeInvalidField, field, "%s must be a string", field)
}

// elementText returns the element; a number or a boolean becomes its JSON text.
func elementText(v ahp.Value) (text string, err error) {
	switch v.Kind() {
	case 0, 'n':
		return "", nil
	case '0', 't', 'f':
		return string(v), nil
	case '"':
		if ahp.Unmarshal(v, &text) == nil {
			return text, nil
		}
	}
	return "", errorf(CodeInvalidField, "element", "element must be a string")
}

func isText(v ahp.Value, want string) bool {
	var text string
	return v.Kind() == '"' && ahp.Unmarshal(v, &text) == nil && text == want
}

// ref returns a valid ref, and "" for any other.
func ref(v ahp.Value) (text string) {
	if v.Kind() != '"' || ahp.Unmarshal(v, &text) != nil || len(text) > maxRef {
		return ""
	}
	for _, c := range text {
		if !isWord(c) {
			return ""
		}
	}
	return text
}

// isWord reports whether a character is a letter, a digit or a hyphen of ASCII.
func isWord(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}
