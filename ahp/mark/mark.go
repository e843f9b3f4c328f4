package mark

import "encoding/binary"

// Block is how many bytes one word of marks describes.
const Block = 64

// Special marks quotes, backslashes and control characters (below 0x20). Bit i of
// marks[k] is set if text[Block*k+i] is one of them. high reports whether text has
// bytes above ASCII, which are not marked. Special panics unless text has exactly
// Block*len(marks) bytes.
func Special(marks []uint64, text []byte) (high bool) {
	if len(text) != Block*len(marks) {
		panic("mark: want Block bytes for each word of marks")
	}
	return special(marks, text)
}

// Highs has the highest bit of each of eight bytes.
const Highs = 0x8080808080808080

const ones = 0x0101010101010101 // the lowest bit of each of eight bytes

// specialPlain is special in plain Go.
func specialPlain(marks []uint64, text []byte) bool {
	var all uint64
	for i := range marks {
		block := (*[Block]byte)(text[Block*i:])
		var word uint64
		for at := 0; at < Block; at += 8 {
			w := binary.LittleEndian.Uint64(block[at:])
			all |= w
			// The product moves the marks, one bit in each byte, to the highest byte.
			word |= Eight(w) >> 7 * 0x0102040810204080 >> 56 << at
		}
		marks[i] = word
	}
	return all&Highs != 0
}

// Eight sets the highest bit of each of the eight bytes of w that Special would
// mark, and clears all other bits. It is for texts shorter than a block. Without
// marks it takes as long as comparing two bytes one by one.
func Eight(w uint64) uint64 {
	// No sum below carries into the next byte.
	low := w &^ Highs
	quote, slash := (low^ones*'"')+ones*0x7F, (low^ones*'\\')+ones*0x7F
	control := low + ones*(0x80-' ')
	return ^(quote&slash&control | w) & Highs
}
