package mark

import "math/bits"

// Unescape decodes the inside of a JSON string from src to dst. It decodes escapes
// of two bytes (RFC 8259 section 7) and copies other text. It stops before a quote,
// a control character or any other escape, complete or not, or when fewer than Tail
// bytes are left. It returns how many bytes of dst it wrote and how many of src it
// took. Later bytes of dst might be overwritten. It panics if dst is shorter than
// src.
//
// high reports whether bytes above ASCII were seen, perhaps behind those that were
// taken. The caller must check that the written bytes are UTF-8. An escape decodes
// to a whole rune, so they are valid exactly if the taken bytes are.
func Unescape(dst, src []byte) (wrote, took int, high bool) {
	if len(dst) < len(src) {
		panic("mark: dst is shorter than src")
	}
	return unescape(dst, src)
}

// Tail is the most bytes at the end of a text that Escape and Unescape leave to
// their caller.
const Tail = 4 * Block

// Letters has the character of each short escape, by the byte behind the backslash,
// or 0.
var Letters = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

const (
	manyBlocks = 16        // how many blocks are marked at a time
	blockReach = 3 * Block // how many bytes from a block's first one on may be read and written
)

// unescapePlain is unescape in plain Go.
func unescapePlain(dst, src []byte) (wrote, took int, high bool) {
	var space [manyBlocks]uint64
	for {
		marks := space[:max(0, min(manyBlocks, (len(src)-took-blockReach)/Block))]
		if len(marks) == 0 {
			return wrote, took, high
		}
		begin, end := took, took+len(marks)*Block
		high = Special(marks, src[begin:end]) || high
		for took < end {
			at := took - begin // the last escape might have reached into this block
			to, from := (*[blockReach]byte)(dst[wrote:]), (*[blockReach]byte)(src[took:])
			w, t, whole := unescapeBlock(to, from, marks[at/Block]>>(at%Block), Block-at%Block)
			wrote, took = wrote+w, took+t
			if !whole {
				return wrote, took, high
			}
		}
	}
}

// unescapeBlock decodes the first size bytes of from, at most a block, and one more
// if the last one is the backslash of an escape. marks are those of Special. It
// stops before a mark that does not begin a short escape; whole reports that there
// was none.
func unescapeBlock(to, from *[blockReach]byte, marks uint64, size int) (wrote, took int, whole bool) {
	for marks != 0 {
		at := bits.TrailingZeros64(marks)
		char := Letters[from[at+1]]
		copyBlock(to[wrote&127:], from[took&127:], at-took)
		wrote += at - took
		if char == 0 || from[at] != '\\' {
			return wrote, at, false
		}
		to[wrote&127] = char
		wrote, took = wrote+1, at+2
		first := marks & -marks
		marks &^= first | first<<1 // the letter might be marked, too
	}
	copyBlock(to[wrote&127:], from[took&127:], size-took)
	return wrote + max(size-took, 0), max(took, size), true
}

// copyBlock copies at least n bytes, and at most a block. That is faster than to
// copy exactly n, and harmless as long as the bytes behind them are written later.
// The callers' masks prove to the compiler that a block is in bounds.
func copyBlock(to, from []byte, n int) {
	dst, src := to[:Block], from[:Block]
	*(*[16]byte)(dst) = *(*[16]byte)(src)
	*(*[16]byte)(dst[16:]) = *(*[16]byte)(src[16:])
	if n > 32 {
		*(*[16]byte)(dst[32:]) = *(*[16]byte)(src[32:])
		*(*[16]byte)(dst[48:]) = *(*[16]byte)(src[48:])
	}
}
