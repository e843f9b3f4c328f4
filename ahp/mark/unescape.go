package mark

import "math/bits"

// Unescape decodes what stands inside a JSON string from src to dst, which is at
// least as long, else it panics: text is copied, and of the sequences those of two
// bytes are decoded (RFC 8259 section 7). It ends before a quote, a control
// character or any other sequence, complete or not, or where fewer than Tail
// bytes are left. What comes behind the wrote bytes in dst may be spoilt.
//
// high says that there are bytes above ASCII; it may be of some that were not
// taken. Whether they are UTF-8 is for the caller to judge, of what was written:
// a sequence is a whole rune.
func Unescape(dst, src []byte) (wrote, took int, high bool) {
	if len(dst) < len(src) {
		panic("mark: want as many bytes to write to as there are to decode")
	}
	return unescape(dst, src)
}

// Tail is how many bytes at the end of a text are left to others, at most.
const Tail = 4 * Block

// Letters is what the byte behind a backslash stands for, where that is all.
var Letters = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// manyBlocks are marked at a time. From the beginning of a block on, blockRoom
// bytes can be read and written, so that a copy need not know its length.
const (
	manyBlocks = 16
	blockRoom  = 3 * Block
)

// unescapePlain is unescape in plain Go.
func unescapePlain(dst, src []byte) (wrote, took int, high bool) {
	var space [manyBlocks]uint64
	for {
		marks := space[:max(0, min(manyBlocks, (len(src)-took-blockRoom)/Block))]
		if len(marks) == 0 {
			return wrote, took, high
		}
		begin, end := took, took+len(marks)*Block
		high = Special(marks, src[begin:end]) || high
		for took < end {
			at := took - begin // a sequence may have reached into this block
			to, from := (*[blockRoom]byte)(dst[wrote:]), (*[blockRoom]byte)(src[took:])
			w, t, whole := unescapeBlock(to, from, marks[at/Block]>>(at%Block), Block-at%Block)
			wrote, took = wrote+w, took+t
			if !whole {
				return wrote, took, high
			}
		}
	}
}

// unescapeBlock decodes the first size bytes of from, at most a block, by their
// marks, and a letter behind them whose backslash is the last one. It ends before
// what is no short escape; whole says that there was none.
func unescapeBlock(to, from *[blockRoom]byte, marks uint64, size int) (wrote, took int, whole bool) {
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
		marks &^= first | first<<1 // the letter may be marked, too
	}
	copyBlock(to[wrote&127:], from[took&127:], size-took)
	return wrote + max(size-took, 0), max(took, size), true
}

// copyBlock copies n bytes or more, at most a block, whose neighbours are not
// written yet: that is faster than to copy exactly n. The callers' masks tell the
// compiler that there is a block of each.
func copyBlock(to, from []byte, n int) {
	dst, src := to[:Block], from[:Block]
	*(*[16]byte)(dst) = *(*[16]byte)(src)
	*(*[16]byte)(dst[16:]) = *(*[16]byte)(src[16:])
	if n > 32 {
		*(*[16]byte)(dst[32:]) = *(*[16]byte)(src[32:])
		*(*[16]byte)(dst[48:]) = *(*[16]byte)(src[48:])
	}
}
