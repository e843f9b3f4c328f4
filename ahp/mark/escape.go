package mark

import (
	"encoding/binary"
	"math/bits"
)

// Escape writes src as the inside of a JSON string to dst: text as it is, and
// quotes, backslashes and what else has an escape of two bytes as that (RFC 8259
// section 7; a slash needs none). It ends before any other control character, or
// where fewer than Tail bytes are left, or as many of dst. What comes behind the
// wrote bytes in dst may be spoilt.
func Escape(dst, src []byte) (wrote, took int) { return escape(dst, src) }

// sequences are the short escapes, the backslash in the lower byte, or 0.
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
		marks := space[:max(0, min(manyBlocks, (len(src)-took-blockRoom)/Block))]
		if len(marks) == 0 {
			return wrote, took
		}
		Special(marks, src[took:took+len(marks)*Block])
		for _, m := range marks {
			if len(dst)-wrote < escapeRoom {
				return wrote, took
			}
			to, from := (*[escapeRoom]byte)(dst[wrote:]), (*[blockRoom]byte)(src[took:])
			w, t := escapeBlock(to, from, m)
			wrote, took = wrote+w, took+t
			if t < Block {
				return wrote, took
			}
		}
	}
}

// escapeRoom is what may be written for one block: two bytes for each, and the
// rest of a copy.
const escapeRoom = 4 * Block

// escapeBlock escapes the first block of from by its marks, or up to what has no
// short escape.
func escapeBlock(to *[escapeRoom]byte, from *[blockRoom]byte, marks uint64) (wrote, took int) {
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
