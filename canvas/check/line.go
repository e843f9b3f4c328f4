package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Line returns a title or a status as one line of at most TextLength code points. Control
// characters and line ends become spaces, bidirectional controls and invalid UTF-8 are
// removed, and a longer text is cut and ends with "…". A text that needs none of this is
// returned unchanged.
func (l *Limits) Line(s string) string {
	if strings.ContainsFunc(s, breaksLine) || strings.ContainsFunc(s, turnsText) || !utf8.ValidString(s) {
		s = strings.Map(func(r rune) rune {
			switch {
			case breaksLine(r):
				return ' '
			case turnsText(r):
				return -1
			}
			return r
		}, strings.ToValidUTF8(s, ""))
		s = strings.Join(strings.Fields(s), " ")
	}
	if utf8.RuneCountInString(s) <= l.TextLength {
		return s
	}
	return string([]rune(s)[:l.TextLength-1]) + "…"
}

// breaksLine reports whether a character is a control or ends a line.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// turnsText reports whether a character changes the direction of the text around it.
func turnsText(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// CleanUpdate returns an update with its title and status as lines, and whether that
// changed them.
func (l *Limits) CleanUpdate(u canvas.Update) (clean canvas.Update, changed bool) {
	for _, s := range []*ahp.Field[string]{&u.Title, &u.Status} {
		if s.Value == nil {
			continue
		}
		if line := l.Line(*s.Value); line != *s.Value {
			s.Value, changed = &line, true
		}
	}
	return u, changed
}
