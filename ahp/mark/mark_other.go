//go:build !amd64

package mark

func special(marks []uint64, text []byte) bool { return specialPlain(marks, text) }
