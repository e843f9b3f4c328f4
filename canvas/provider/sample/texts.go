package sample

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Texts cleans what people and agents write; a text that cannot be cleaned is
// refused with Code.
type Texts struct{ Code string }

// Line is one line of at most max code points: spaces are joined, nothing else
// is changed. what names it in errors.
func (t Texts) Line(what, s string, max int) (string, error) {
	return t.checked(what, OneLine(s), max, func(rune) bool { return false })
}

// OneLine is how a [Texts.Line] is kept: with one space where there were some. Who
// looks for what was written looks for that.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Name is a Line that is not empty.
func (t Texts) Name(what, s string, max int) (string, error) {
	s, err := t.Line(what, s, max)
	if err == nil && s == "" {
		return "", canvas.Errorf(t.Code, "%s must not be empty", what)
	}
	return s, err
}

// Lines is text of several lines.
func (t Texts) Lines(what, s string, max int) (string, error) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return t.checked(what, s, max, func(r rune) bool { return r == '\n' || r == '\t' })
}

func (t Texts) checked(what, s string, max int, allowed func(rune) bool) (string, error) {
	if utf8.RuneCountInString(s) > max {
		return "", canvas.Errorf(t.Code, "%s has more than %d characters", what, max)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !allowed(r) }) {
		return "", canvas.Errorf(t.Code, "%s holds a control character", what)
	}
	return s, nil
}
