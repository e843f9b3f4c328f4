package peer

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// decodeText checks and decodes the inside of a string from src into dst, which
// is at least as long. It ends behind the closing quote (closed), or before a
// sequence that may go on in bytes that are still to come. It returns how many
// bytes it wrote and how many it took.
//
// It is the inner loop of every long string: sixteen bytes are copied before they
// are looked at, and what of them is no plain text is written over. The common
// case adds a constant, so that the next look need not wait for this one.
func decodeText(dst, src []byte) (n, taken int, closed bool, err error) {
	for taken < len(src) {
		if taken+16 <= len(src) {
			from, to := src[taken:taken+16], dst[n:n+16]
			a, b := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
			binary.LittleEndian.PutUint64(to, a)
			binary.LittleEndian.PutUint64(to[8:], b)
			notA, notB := notPlain(a), notPlain(b)
			if notA|notB == 0 {
				n, taken = n+16, taken+16
				continue
			}
			plain := bits.TrailingZeros64(notA) / 8
			if notA == 0 {
				plain = 8 + bits.TrailingZeros64(notB)/8
			}
			n, taken = n+plain, taken+plain
		}
		rest := src[taken:]
		switch c := rest[0]; {
		case c == '\\' && len(rest) > 1 && shortEscapes[rest[1]] != 0:
			dst[n] = shortEscapes[rest[1]]
			n, taken = n+1, taken+2
		case c == '"':
			return n, taken + 1, true, nil
		case c < ' ':
			return n, taken, false, errSyntax
		case c != '\\' && c < utf8.RuneSelf:
			dst[n] = c
			n, taken = n+1, taken+1
		default:
			r, size, err := runeAt(rest)
			if err != nil || size == 0 {
				return n, taken, false, err
			}
			n += utf8.EncodeRune(dst[n:], r)
			taken += size
		}
	}
	return n, taken, false, nil
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

// maxSequence is the longest sequence of bytes that stands for one rune in a
// string: an escaped surrogate pair.
const maxSequence = 12

// runeAt reads an escape sequence or a rune outside of ASCII at the beginning of
// b. Its size is 0 where b may end inside of it.
func runeAt(b []byte) (r rune, size int, err error) {
	if b[0] == '\\' {
		r, size = escapeAt(b)
		err = errSyntax
		if size < 0 {
			err = errUTF8
		}
	} else if r, size = utf8.DecodeRune(b); r == utf8.RuneError && size == 1 {
		size, err = 0, errUTF8
	}
	switch {
	case size > 0:
		return r, size, nil
	case len(b) < maxSequence:
		return 0, 0, nil
	}
	return 0, 0, err
}
