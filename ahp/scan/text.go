package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	asmutf8 "github.com/segmentio/asm/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// DecodeText validates and decodes the inside of a string from src to dst, which
// must be at least as long. It stops behind the closing quote, and then reports
// closed, or before a sequence that might continue behind src. It returns how
// many bytes of dst it wrote and how many of src it took.
//
// It is the inner loop of every long string. UTF-8 is copied first and validated
// at the end: an escape decodes to a whole rune, so the output is valid exactly
// if the input is.
func DecodeText(dst, src []byte) (n, taken int, closed bool, err error) {
	high := false
	for taken < len(src) && !closed && err == nil {
		wrote, took, above := mark.Unescape(dst[n:], src[taken:])
		n, taken, high = n+wrote, taken+took, high || above
		var some int
		wrote, some, above, closed, err = decodeFew(dst[n:], src[taken:])
		n, taken, high = n+wrote, taken+some, high || above
		if took+some == 0 {
			break
		}
	}
	if high && err == nil {
		if !closed {
			begun := begunRune(src[:taken])
			n, taken = n-begun, taken-begun
		}
		if !asmutf8.Valid(dst[:n]) {
			return 0, 0, false, ErrUTF8
		}
	}
	return n, taken, closed, err
}

// few is how many bytes decodeFew takes before blocks are tried again. A text
// with one \u usually has many.
const few = mark.Tail

// decodeFew decodes at most few bytes, eight at a time if possible. high
// reports that bytes above ASCII might be among them.
func decodeFew(dst, src []byte) (n, taken int, high, closed bool, err error) {
	var all uint64
	for end := min(few, len(src)); taken < end && !closed && err == nil; {
		if c := src[taken]; taken+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[taken:])
			binary.LittleEndian.PutUint64(dst[n:], w)
			all |= w
			marks := mark.Eight(w)
			if marks == 0 {
				n, taken = n+8, taken+8
				continue
			}
			plain := bits.TrailingZeros64(marks) / 8
			n, taken = n+plain, taken+plain
		} else if c != '\\' && c != '"' && c >= ' ' {
			dst[n] = c
			n, taken, all = n+1, taken+1, all|uint64(c)
			continue
		}
		var wrote, took int
		wrote, took, closed, err = decodeSpecial(dst[n:], src[taken:])
		n, taken = n+wrote, taken+took
		if took == 0 {
			break
		}
	}
	return n, taken, all&mark.Highs != 0, closed, err
}

// decodeSpecial decodes one quote or escape sequence, and rejects a control
// character. It takes nothing if the sequence might continue behind src.
func decodeSpecial(dst, src []byte) (wrote, took int, closed bool, err error) {
	switch src[0] {
	case '"':
		return 0, 1, true, nil
	case '\\':
		if r, ok := hex4(src); ok && src[1] == 'u' && !utf16.IsSurrogate(r) { // by far the most frequent
			return utf8.EncodeRune(dst, r), 6, false, nil
		}
		r, size, err := escapedRune(src)
		if size == 0 || err != nil {
			return 0, 0, false, err
		}
		return utf8.EncodeRune(dst, r), size, false, nil
	}
	return 0, 0, false, ErrSyntax
}

// maxEscape is the longest escape sequence: a surrogate pair.
const maxEscape = 12

// escapedRune reads the escape sequence at the beginning of b. The size is 0 if
// b might end inside the sequence.
func escapedRune(b []byte) (r rune, size int, err error) {
	switch r, size = escapeAt(b); {
	case size > 0:
		return r, size, nil
	case len(b) < maxEscape:
		return 0, 0, nil
	case size < 0:
		return 0, 0, ErrUTF8
	}
	return 0, 0, ErrSyntax
}

// begunRune returns how many bytes at the end of b begin an incomplete rune.
func begunRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}
