package mark

func escape(dst, src []byte) (wrote, took int) {
	if !hasAVX2 || len(src) < Block || len(dst) < 2*Block {
		return escapePlain(dst, src)
	}
	return escapeAVX2(&dst[0], &src[0], len(dst), len(src), &widenings)
}

// escapeAVX2 is escape in AVX2. space is the length of dst, n that of src.
//
//go:noescape
func escapeAVX2(dst, src *byte, space, n int, widenings *[256][16]byte) (wrote, took int)

// widenings has, for each set of marks in eight bytes, a shuffle that inserts a
// backslash before each marked byte. Index 8 stands for the backslash.
var widenings = func() (t [256][16]byte) {
	for marks := range t {
		to := 0
		for from := range 8 {
			if marks>>from&1 != 0 {
				t[marks][to] = 8
				to++
			}
			t[marks][to] = byte(from)
			to++
		}
	}
	return t
}()
