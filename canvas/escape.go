package canvas

import (
	"encoding/binary"
	"math/bits"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// escapeRoom is how many bytes escape wants free behind what it writes: it
// writes eight at a time, and then an escape sequence as eight.
const escapeRoom = 24

// escape writes valid UTF-8 as the inside of a JSON string, as much of src as
// fits into dst, or all of it, and returns how many bytes it wrote and took. Of
// dst, escapeRoom bytes stay free.
//
// Whole blocks are escaped by the marks of what needs it, as long as there is
// room for the longest that can become of one.
func escape(dst, src []byte) (n, taken int) {
	n, taken = escapeBlocks(dst, src)
	for taken < len(src) && n+escapeRoom <= len(dst) {
		if taken+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[taken:])
			binary.LittleEndian.PutUint64(dst[n:], w)
			plain := bits.TrailingZeros64(special(w)) / 8
			n, taken = n+plain, taken+plain
			if plain == 8 {
				continue
			}
		}
		e := &escapes[src[taken]]
		binary.LittleEndian.PutUint64(dst[n:], e.text)
		n, taken = n+e.size, taken+1
	}
	return n, taken
}

// manyBlocks are marked at a time. blockFrom bytes are read from the beginning of
// a block on, so that a copy need not know its length, and blockRoom may be
// written: six for each, and the rest of a copy.
const (
	manyBlocks = 16
	blockFrom  = 2 * mark.Block
	blockRoom  = 512 + mark.Block
)

// escapeBlocks escapes whole blocks.
func escapeBlocks(dst, src []byte) (n, taken int) {
	var space [manyBlocks]uint64
	for {
		marks := space[:max(0, min(manyBlocks, (len(src)-taken)/mark.Block-1, (len(dst)-n-blockRoom)/mark.Block))]
		if len(marks) == 0 {
			return n, taken
		}
		mark.Special(marks, src[taken:taken+len(marks)*mark.Block])
		for _, m := range marks {
			if len(dst)-n < blockRoom {
				return n, taken
			}
			n += escapeBlock((*[blockRoom]byte)(dst[n:]), (*[blockFrom]byte)(src[taken:]), m)
			taken += mark.Block
		}
	}
}

// escapeBlock escapes the first block of from by its marks, and returns how many
// bytes it wrote.
func escapeBlock(to *[blockRoom]byte, from *[blockFrom]byte, marks uint64) (n int) {
	taken := 0
	for ; marks != 0; marks &= marks - 1 {
		at := bits.TrailingZeros64(marks)
		copyBlock(to, from, n, taken, at-taken)
		n += at - taken
		e := &escapes[from[at]]
		binary.LittleEndian.PutUint64(to[n&511:], e.text)
		n, taken = n+e.size, at+1
	}
	copyBlock(to, from, n, taken, mark.Block-taken)
	return n + mark.Block - taken
}

// copyBlock copies n bytes or more, at most a block, whose neighbours are not
// written yet: that is faster than to copy exactly n.
func copyBlock(to *[blockRoom]byte, from *[blockFrom]byte, wrote, taken, n int) {
	dst, src := to[wrote&511:][:mark.Block], from[taken:][:mark.Block]
	*(*[16]byte)(dst) = *(*[16]byte)(src)
	*(*[16]byte)(dst[16:]) = *(*[16]byte)(src[16:])
	if n > 32 {
		*(*[16]byte)(dst[32:]) = *(*[16]byte)(src[32:])
		*(*[16]byte)(dst[48:]) = *(*[16]byte)(src[48:])
	}
}

// The lowest and the highest bit of each of eight bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks which of the eight bytes of w need an escape. The lowest mark is
// true; those above it need not be, for borrows run upwards.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// escaped is how a byte stands in a JSON string: size bytes, the lowest first.
type escaped struct {
	text uint64
	size int
}

var escapes = func() (t [256]escaped) {
	const hex = "0123456789abcdef"
	set := func(c byte, text string) {
		var b [8]byte
		size := copy(b[:], text)
		t[c] = escaped{binary.LittleEndian.Uint64(b[:]), size}
	}
	for c := range 256 {
		set(byte(c), string([]byte{byte(c)}))
	}
	for c := range byte(' ') {
		set(c, `\u00`+string([]byte{hex[c>>4], hex[c&15]}))
	}
	for i, c := range "\"\\\b\f\n\r\t" {
		set(byte(c), `\`+`"\bfnrt`[i:i+1])
	}
	return t
}()

// escapedSize is how many bytes escape writes of all of data.
func escapedSize(data []byte) int {
	n := 0
	for ; len(data) >= 8; data = data[8:] {
		w := binary.LittleEndian.Uint64(data)
		low := w &^ highs // so that no sum below carries into the next byte
		one := ^(((low^ones*'"')+ones*0x7F)&((low^ones*'\\')+ones*0x7F) | w) & highs
		control := ^((low + ones*0x60) | w) & highs
		n += 8 + bits.OnesCount64(one)
		for ; control != 0; control &= control - 1 {
			n += escapes[byte(w>>(bits.TrailingZeros64(control)-7))].size - 1
		}
	}
	for _, c := range data {
		n += escapes[c].size
	}
	return n
}
