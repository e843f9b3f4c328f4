package mark

// special is written in SSE2, which every amd64 processor has.
//
//go:noescape
func special(marks []uint64, text []byte) (high bool)
