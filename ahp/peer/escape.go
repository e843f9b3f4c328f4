package peer

import (
	"unicode/utf16"
	"unicode/utf8"
)

// shortEscapes is what the byte behind a backslash stands for, where that is all.
var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escapeAt reads the escape sequence at the beginning of b: its rune and its
// length, which is 0 for none and negative for half a surrogate pair.
func escapeAt(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if c := shortEscapes[b[1]]; c != 0 {
		return rune(c), 2
	}
	if b[1] == 'u' {
		return unicodeAt(b)
	}
	return 0, 0
}

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
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape returns the text of a string that was checked.
func unescape(raw []byte) []byte {
	out := make([]byte, len(raw))
	n, _, _, _ := decodeText(out, raw)
	return out[:n]
}

// notPlain marks which of the eight bytes of w are not printable ASCII, or are a
// quote or a backslash. The lowest mark is true; those above it need not be, for
// borrows run upwards.
func notPlain(w uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return (w | (w - ones*' ') | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)) & highs
}
