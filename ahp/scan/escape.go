package scan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// escapeAt reads the escape sequence at the beginning of b and returns its rune
// and its length. The length is 0 if there is none, and negative for half a
// surrogate pair.
func escapeAt(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if c := mark.Letters[b[1]]; c != 0 {
		return rune(c), 2
	}
	if b[1] == 'u' {
		return unicodeAt(b)
	}
	return 0, 0
}

// unicodeAt is escapeAt for a sequence that begins with \u.
func unicodeAt(b []byte) (rune, int) {
	r, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := hex4(b[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, -1
}

// hex4 reads the four digits behind \u.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 {
		return 0, false
	}
	d := (*[4]byte)(b[2:])
	r := rune(digits[d[0]])<<12 | rune(digits[d[1]])<<8 | rune(digits[d[2]])<<4 | rune(digits[d[3]])
	return r, r >= 0
}

// digits has the values of the hexadecimal digits and -1 for every other byte.
// A number composed with a -1 is negative.
var digits = func() (t [256]int8) {
	for c := range t {
		t[c] = -1
	}
	for i := range 16 {
		t["0123456789abcdef"[i]], t["0123456789ABCDEF"[i]] = int8(i), int8(i)
	}
	return t
}()

// Inside returns the decoded text of a valid string, quotes included in s. The
// result shares s's memory if s has no escapes.
func Inside(s []byte) []byte {
	if len(s) < 2 {
		return nil
	}
	s = s[1 : len(s)-1]
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	return unescape(s)
}

// unescape decodes the inside of a valid string into new memory.
func unescape(raw []byte) []byte {
	out := make([]byte, len(raw))
	n, _, _, _ := DecodeText(out, raw)
	return out[:n]
}
