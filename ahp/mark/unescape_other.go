//go:build !amd64

package mark

func unescape(dst, src []byte) (wrote, took int, high bool) { return unescapePlain(dst, src) }
