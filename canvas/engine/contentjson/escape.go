package contentjson

import (
	"encoding/binary"
	"math/bits"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// escapeSlack is how many bytes escape needs free behind its output: it writes eight
// bytes at a time, and an escape sequence as eight.
const escapeSlack = 24

// escape writes valid UTF-8 as the inside of a JSON string: as much of src as fits
// into dst less escapeSlack bytes. It returns how many bytes it wrote and read.
func escape(dst, src []byte) (n, taken int) {
	for {
		wrote, took := mark.Escape(dst[n:], src[taken:min(taken+piece, len(src))])
		n, taken = n+wrote, taken+took
		wrote, took = escapeFew(dst[n:], src[taken:])
		n, taken = n+wrote, taken+took
		if took == 0 {
			return n, taken
		}
	}
}

// piece is how many bytes of content the assembly gets at a time. Go cannot interrupt
// assembly: while one goroutine is in it, a garbage collection that has begun stops all
// others. It is a multiple of three, as base64 wants it.
const piece = 48 << 10

// few is how many bytes are escaped eight at a time before blocks are tried again.
const few = mark.Tail

// escapeFew escapes at most few bytes of src, as many as fit.
func escapeFew(dst, src []byte) (n, taken int) {
	for taken < min(few, len(src)) && n+escapeSlack <= len(dst) {
		if taken+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[taken:])
			binary.LittleEndian.PutUint64(dst[n:], w)
			plain := bits.TrailingZeros64(mark.Eight(w)) / 8
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

// escaped is a byte as a JSON string holds it: size bytes, the lowest first.
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

// escapedSize returns how many bytes escape writes for data.
func escapedSize(data []byte) int {
	n := 0
	for ; len(data) >= 8; data = data[8:] {
		n += 8
		for marks := mark.Eight(binary.LittleEndian.Uint64(data)); marks != 0; marks &= marks - 1 {
			n += escapes[data[bits.TrailingZeros64(marks)/8&7]].size - 1
		}
	}
	for _, c := range data {
		n += escapes[c].size
	}
	return n
}
