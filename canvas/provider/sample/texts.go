package sample

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Texts checks and normalizes texts of people and agents.
type Texts struct {
	// Code is the code of its errors.
	Code string
}

// Line normalizes a text of one line, of at most max code points, as [OneLine] does.
// Errors call it what.
func (t Texts) Line(what, s string, max int) (string, error) {
	return t.check(what, OneLine(s), max, func(rune) bool { return false })
}

// OneLine returns s without space at its ends and with each run of space replaced by
// a single space. Compare with this form: it is the one that [Texts.Line] returns.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Name is Line for a text that must not be empty.
func (t Texts) Name(what, s string, max int) (string, error) {
	s, err := t.Line(what, s, max)
	if err == nil && s == "" {
		return "", canvas.Errorf(t.Code, "%s must not be empty", what)
	}
	return s, err
}

// Lines normalizes the line ends of a text of at most max code points.
func (t Texts) Lines(what, s string, max int) (string, error) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return t.check(what, s, max, func(r rune) bool { return r == '\n' || r == '\t' })
}

// check rejects long texts and control characters, except for the allowed ones.
func (t Texts) check(what, s string, max int, allowed func(rune) bool) (string, error) {
	if n := utf8.RuneCountInString(s); n > max {
		return "", canvas.Errorf(t.Code, "%s has %d characters; at most %d are allowed", what, n, max)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !allowed(r) }) {
		return "", canvas.Errorf(t.Code, "%s contains a control character", what)
	}
	return s, nil
}
