package ahp

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns a text as one line of at most limit code points. Control characters and
// line ends become spaces, bidirectional controls and invalid UTF-8 are removed, and a
// longer text is cut and ends with "…". A text that needs none of this is returned
// unchanged.
func Line(s string, limit int) string {
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
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := 0
	for at := range s {
		if runes++; runes == limit {
			return s[:at] + "…"
		}
	}
	return s
}

// breaksLine reports whether a character is a control or ends a line.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// turnsText reports whether a character changes the direction of the text around it.
func turnsText(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
