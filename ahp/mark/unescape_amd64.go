package mark

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

func unescape(dst, src []byte) (wrote, took int, high bool) {
	if !hasAVX2 || len(src) < Block {
		return unescapePlain(dst, src)
	}
	return unescapeAVX2(&dst[0], &src[0], len(src), &squeezes)
}

// unescapeAVX2 is unescape for n bytes of src.
//
//go:noescape
func unescapeAVX2(dst, src *byte, n int, squeezes *[256]uint64) (wrote, took int, high bool)

// squeezes say which of eight bytes stay, by the bits of those that do not, and
// in which order: the lowest first.
var squeezes = func() (t [256]uint64) {
	for drop := range t {
		to := 0
		for from := range 8 {
			if drop>>from&1 == 0 {
				t[drop] |= uint64(from) << (8 * to)
				to++
			}
		}
	}
	return t
}()
