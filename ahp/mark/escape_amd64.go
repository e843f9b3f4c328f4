package mark

func escape(dst, src []byte) (wrote, took int) {
	if !hasAVX2 || len(src) < Block || len(dst) < 2*Block {
		return escapePlain(dst, src)
	}
	return escapeAVX2(&dst[0], &src[0], len(dst), len(src), &widenings)
}

// escapeAVX2 is escape of n bytes of src into room bytes of dst.
//
//go:noescape
func escapeAVX2(dst, src *byte, room, n int, widenings *[256][16]byte) (wrote, took int)

// widenings say what eight bytes become where those whose bits are set get a
// backslash, which is number eight.
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
