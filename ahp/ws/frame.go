package ws

import (
	"crypto/subtle"
	"encoding/binary"
	"math/rand/v2"
)

// The parts of frame headers (RFC 6455 section 5.2).
const (
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xA

	bitFinal = 0x80
	bitMask  = 0x80

	maxHeader  = 14
	maxControl = 125
)

// appendHeader appends the header of a frame with n bytes of payload. first has the
// opcode and the final bit. A client's header ends with the mask key, which is also
// returned.
func appendHeader(b []byte, first byte, n int, client bool) ([]byte, [4]byte) {
	var mask byte
	if client {
		mask = bitMask
	}
	switch {
	case n <= maxControl:
		b = append(b, first, mask|byte(n))
	case n <= 0xFFFF:
		b = append(b, first, mask|126)
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	default:
		b = append(b, first, mask|127)
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	var key [4]byte
	if client {
		binary.LittleEndian.PutUint32(key[:], rand.Uint32())
		b = append(b, key[:]...)
	}
	return b, key
}

// appendFrame appends a frame.
func appendFrame(b []byte, first byte, payload []byte, client bool) []byte {
	b, key := appendHeader(b, first, len(payload), client)
	start := len(b)
	b = append(b, payload...)
	if client {
		maskBytes(key, 0, b[start:])
	}
	return b
}

// Framed returns messages as a server's frames, for [Conn.WriteFramed]. So messages for
// many connections are framed once.
func Framed(messages [][]byte) []byte {
	size := 0
	for _, m := range messages {
		size += maxHeader + len(m)
	}
	b := make([]byte, 0, size)
	for _, m := range messages {
		b = appendFrame(b, opText|bitFinal, m, false)
	}
	return b
}

// maskBytes masks or unmasks b, which begins at position pos of the payload, and returns
// the position behind b.
func maskBytes(key [4]byte, pos int, b []byte) int {
	next := pos + len(b)
	var k [8]byte
	for i := range k {
		k[i] = key[(pos+i)&3]
	}
	if len(b) >= longMask {
		var pattern [longMask]byte
		for i := 0; i < len(pattern); i += len(k) {
			copy(pattern[i:], k[:])
		}
		for len(b) >= len(pattern) {
			b = b[subtle.XORBytes(b, b, pattern[:]):] // with the machine's widest registers
		}
	}
	word := binary.LittleEndian.Uint64(k[:])
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= k[i]
	}
	return next
}

// longMask is how many bytes are masked at a time if there are as many. It is a multiple
// of the key's length.
const longMask = 1 << 10
