package peer

import (
	"math/bits"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// decodeText checks and decodes the inside of a string from src into dst, which
// is at least as long. It ends behind the closing quote (closed), or before a
// sequence that may go on in bytes that are still to come. It returns how many
// bytes it wrote and how many it took.
//
// It is the inner loop of every long string. UTF-8 is copied as it is and judged
// in the end: an escape sequence is a whole rune, so what is decoded is valid
// where what came is.
func decodeText(dst, src []byte) (n, taken int, closed bool, err error) {
	n, taken, high := decodeBlocks(dst, src)
	for !closed && err == nil && taken < len(src) {
		if c := src[taken]; c != '\\' && c != '"' && c >= ' ' {
			dst[n] = c
			n, taken = n+1, taken+1
			high = high || c >= utf8.RuneSelf
			continue
		}
		var wrote, took int
		wrote, took, closed, err = decodeSpecial(dst[n:], src[taken:])
		n, taken = n+wrote, taken+took
		if took == 0 {
			break
		}
	}
	if high && err == nil {
		if !closed {
			begun := begunRune(src[:taken])
			n, taken = n-begun, taken-begun
		}
		if !utf8.Valid(dst[:n]) {
			return 0, 0, false, errUTF8
		}
	}
	return n, taken, closed, err
}

// manyBlocks are marked at a time. From the beginning of a block on, blockRoom
// bytes can be read and written, so that a copy need not know its length.
const (
	manyBlocks = 16
	blockRoom  = 3 * mark.Block
)

// decodeBlocks decodes whole blocks, as many as leave blockRoom behind them, and
// ends before the string does, or what can be judged of it. high says that there
// are bytes above ASCII.
func decodeBlocks(dst, src []byte) (n, taken int, high bool) {
	var space [manyBlocks]uint64
	for {
		marks := space[:max(0, min(manyBlocks, (len(src)-taken-blockRoom)/mark.Block))]
		if len(marks) == 0 {
			return n, taken, high
		}
		begin, end := taken, taken+len(marks)*mark.Block
		high = mark.Special(marks, src[begin:end]) || high
		for taken < end {
			at := taken - begin // a sequence may have reached into this block
			from, to := (*[blockRoom]byte)(src[taken:]), (*[blockRoom]byte)(dst[n:])
			wrote, took, whole := decodeBlock(to, from, marks[at/mark.Block]>>(at%mark.Block), mark.Block-at%mark.Block)
			n, taken = n+wrote, taken+took
			if whole {
				continue
			}
			wrote, took, closed, err := decodeSpecial(dst[n:], src[taken:])
			if closed || err != nil || took == 0 {
				return n, taken, high
			}
			n, taken = n+wrote, taken+took
		}
	}
}

// decodeBlock decodes the first size bytes of from, at most a block, by their
// marks, and a letter behind them whose backslash is the last one. It ends before
// a sequence that is no short escape; whole says that there was none.
func decodeBlock(to, from *[blockRoom]byte, marks uint64, size int) (wrote, took int, whole bool) {
	for marks != 0 {
		at := bits.TrailingZeros64(marks)
		char := shortEscapes[from[at+1]]
		if char == 0 || from[at] != '\\' {
			copyBlock(to, from, wrote, took, at-took)
			return wrote + at - took, at, false
		}
		copyBlock(to, from, wrote, took, at-took)
		wrote += at - took
		to[wrote&127] = char
		wrote, took = wrote+1, at+2
		first := marks & -marks
		marks &^= first | first<<1 // the letter may be marked, too
	}
	copyBlock(to, from, wrote, took, size-took)
	return wrote + max(size-took, 0), max(took, size), true
}

// copyBlock copies n bytes or more, at most a block, whose neighbours are not
// written yet: that is faster than to copy exactly n. Neither offset is above 66;
// the masks tell the compiler.
func copyBlock(to, from *[blockRoom]byte, wrote, took, n int) {
	dst, src := to[wrote&127:][:mark.Block], from[took&127:][:mark.Block]
	*(*[16]byte)(dst) = *(*[16]byte)(src)
	*(*[16]byte)(dst[16:]) = *(*[16]byte)(src[16:])
	if n > 32 {
		*(*[16]byte)(dst[32:]) = *(*[16]byte)(src[32:])
		*(*[16]byte)(dst[48:]) = *(*[16]byte)(src[48:])
	}
}

// decodeSpecial decodes what begins with a quote, a backslash or a control
// character. It takes nothing where that may go on behind src.
func decodeSpecial(dst, src []byte) (wrote, took int, closed bool, err error) {
	switch src[0] {
	case '"':
		return 0, 1, true, nil
	case '\\':
		r, size, err := escapedRune(src)
		if size == 0 || err != nil {
			return 0, 0, false, err
		}
		return utf8.EncodeRune(dst, r), size, false, nil
	}
	return 0, 0, false, errSyntax
}

// maxEscape is the longest escape sequence: a surrogate pair.
const maxEscape = 12

// escapedRune reads the escape sequence at the beginning of b. Its size is 0
// where b may end inside of it.
func escapedRune(b []byte) (r rune, size int, err error) {
	switch r, size = escapeAt(b); {
	case size > 0:
		return r, size, nil
	case len(b) < maxEscape:
		return 0, 0, nil
	case size < 0:
		return 0, 0, errUTF8
	}
	return 0, 0, errSyntax
}

// begunRune is how many bytes at the end of b are the beginning of a rune.
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
