package mark

import "encoding/binary"

// Block is how many bytes one word of marks stands for.
const Block = 64

// Special marks quotes, backslashes and control characters (below 0x20): bit i
// of marks[k] is text[Block*k+i]. text has exactly Block*len(marks) bytes, else
// it panics. high says that there are bytes above ASCII, which are not marked.
func Special(marks []uint64, text []byte) (high bool) {
	if len(text) != Block*len(marks) {
		panic("mark: want Block bytes for each word of marks")
	}
	return special(marks, text)
}

// Highs is the highest bit of each of eight bytes, ones the lowest.
const (
	Highs = 0x8080808080808080
	ones  = 0x0101010101010101
)

// plain is special in plain Go.
func plain(marks []uint64, text []byte) bool {
	var all uint64
	for i := range marks {
		block := (*[Block]byte)(text[Block*i:])
		var word uint64
		for at := 0; at < Block; at += 8 {
			w := binary.LittleEndian.Uint64(block[at:])
			all |= w
			// The product moves the eight marks, a bit in each byte, to the highest byte.
			word |= Eight(w) >> 7 * 0x0102040810204080 >> 56 << at
		}
		marks[i] = word
	}
	return all&Highs != 0
}

// Eight marks with its highest bit each of eight bytes that Special would mark.
// It is for texts that are too short for blocks: on plain bytes it costs what
// telling them apart one by one does for two.
func Eight(w uint64) uint64 {
	// No sum below carries into the next byte.
	low := w &^ Highs
	quote, slash := (low^ones*'"')+ones*0x7F, (low^ones*'\\')+ones*0x7F
	control := low + ones*(0x80-' ')
	return ^(quote&slash&control | w) & Highs
}
