package mark

import (
	"encoding/binary"
	"math/bits"
)

// Escape writes src to dst as the inside of a JSON string. Characters that have an
// escape of two bytes (RFC 8259 section 7) are escaped, except the slash, and other
// text is copied. It stops before any other control character, or when fewer than
// Tail bytes of src or dst are left. It returns how many bytes of dst it wrote and
// how many of src it took. Later bytes of dst might be overwritten.
func Escape(dst, src []byte) (wrote, took int) { return escape(dst, src) }

// sequences has the short escape of each character, with the backslash in the lower
// byte, or 0.
var sequences = func() (t [256]uint16) {
	for letter, char := range Letters {
		if char != 0 && char != '/' {
			t[char] = '\\' | uint16(letter)<<8
		}
	}
	return t
}()

// escapePlain is escape in plain Go.
func escapePlain(dst, src []byte) (wrote, took int) {
	var space [manyBlocks]uint64
	for {
		marks := space[:max(0, min(manyBlocks, (len(src)-took-blockReach)/Block))]
		if len(marks) == 0 {
			return wrote, took
		}
		Special(marks, src[took:took+len(marks)*Block])
		for _, m := range marks {
			if len(dst)-wrote < escapeReach {
				return wrote, took
			}
			to, from := (*[escapeReach]byte)(dst[wrote:]), (*[blockReach]byte)(src[took:])
			w, t := escapeBlock(to, from, m)
			wrote, took = wrote+w, took+t
			if t < Block {
				return wrote, took
			}
		}
	}
}

// escapeReach is how far from a block's first output byte escapeBlock might write:
// two bytes for each byte, and the rest of a copy.
const escapeReach = 4 * Block

// escapeBlock escapes the first block of from. marks are those of Special. It
// stops before a character without a short escape.
func escapeBlock(to *[escapeReach]byte, from *[blockReach]byte, marks uint64) (wrote, took int) {
	for ; marks != 0; marks &= marks - 1 {
		at := bits.TrailingZeros64(marks)
		copyBlock(to[wrote&127:], from[took&127:], at-took)
		wrote += at - took
		sequence := sequences[from[at]]
		if sequence == 0 {
			return wrote, at
		}
		binary.LittleEndian.PutUint16(to[wrote&127:], sequence)
		wrote, took = wrote+2, at+1
	}
	if took < Block {
		copyBlock(to[wrote&127:], from[took&127:], Block-took)
	}
	return wrote + Block - took, Block
}
