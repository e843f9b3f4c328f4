package canvas

import (
	"encoding/binary"
	"math/bits"
)

// escapeRoom is how many bytes escape wants free behind what it writes: it
// writes sixteen at a time, and then an escape sequence as eight.
const escapeRoom = 24

// escape writes valid UTF-8 as the inside of a JSON string, as much of src as
// fits into dst, or all of it, and returns how many bytes it wrote and took. Of
// dst, escapeRoom bytes stay free.
//
// Sixteen bytes are copied before they are looked at, and what follows an escape
// is written over: most of a page needs none, and there the next look need not
// wait for this one.
func escape(dst, src []byte) (n, taken int) {
	for taken+16 <= len(src) && n+escapeRoom <= len(dst) {
		from, to := src[taken:taken+16], dst[n:n+escapeRoom]
		a, b := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
		binary.LittleEndian.PutUint64(to, a)
		binary.LittleEndian.PutUint64(to[8:], b)
		inA, inB := special(a), special(b)
		if inA|inB == 0 {
			n, taken = n+16, taken+16
			continue
		}
		plain := bits.TrailingZeros64(inA) / 8
		if inA == 0 {
			plain = 8 + bits.TrailingZeros64(inB)/8
		}
		e := &escapes[src[taken+plain]]
		n, taken = n+plain, taken+plain
		binary.LittleEndian.PutUint64(dst[n:], e.text)
		n, taken = n+e.size, taken+1
	}
	for taken < len(src) && n+escapeRoom <= len(dst) {
		e := &escapes[src[taken]]
		binary.LittleEndian.PutUint64(dst[n:], e.text)
		n, taken = n+e.size, taken+1
	}
	return n, taken
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
