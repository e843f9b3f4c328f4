package mark

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

func unescape(dst, src []byte) (wrote, took int, high bool) {
	if !hasAVX2 || len(src) < Block {
		return unescapePlain(dst, src)
	}
	return unescapeAVX2(&dst[0], &src[0], len(src), &squeezes)
}

// unescapeAVX2 is unescape in AVX2. n is the length of src.
//
//go:noescape
func unescapeAVX2(dst, src *byte, n int, squeezes *[256]uint64) (wrote, took int, high bool)

// squeezes has, for each set of bytes to drop from eight, a shuffle that moves the
// others together.
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
