//go:build !amd64

package mark

func escape(dst, src []byte) (wrote, took int) { return escapePlain(dst, src) }
