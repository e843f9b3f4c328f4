package ws

import (
	"encoding/binary"
	"unicode/utf8"
)

// wholeFrame is the largest frame that is forwarded only once it is complete, which is
// cheaper for small frames.
const wholeFrame = 32 << 10

// frameReader parses the frames of a client (RFC 6455 section 5.2). The zero value is at
// the beginning of a message.
type frameReader struct {
	left  int64 // bytes of the current frame's payload that have not been taken
	pos   int   // bytes of it that have been taken, modulo the key's length
	key   [4]byte
	final byte // bitFinal if the frame is the last one of its message

	kind       byte  // the opcode of the message
	fragmented bool  // the message continues in another frame
	begun      bool  // a piece of the message has been forwarded
	message    int64 // bytes of the message's frames so far
}

// piece is a whole frame, or a part of a long one.
type piece struct {
	size    int     // of header and payload; 0 means that more bytes are needed
	header  int     // size of the header
	first   byte    // first header byte of the frame that forwards the piece
	control byte    // the opcode of a control frame, which is not forwarded
	empty   bool    // a frame without payload, and not only the header of a frame
	key     [4]byte // the mask key
	pos     int     // position of the piece in the frame's payload
}

// next returns the piece at the beginning of b. limit is the most bytes that a message
// may have.
func (r *frameReader) next(b []byte, limit int64) (piece, *CloseError) {
	if r.left > 0 {
		return r.more(b, 0), nil
	}
	header, n, err := frameHeader(b)
	if header == 0 || err != nil {
		return piece{}, err
	}
	opcode, final := b[0]&0xF, b[0]&bitFinal
	var key [4]byte
	copy(key[:], b[header-4:header])
	if opcode >= opClose {
		if len(b) < header+int(n) {
			return piece{}, nil
		}
		return piece{size: header + int(n), header: header, control: opcode, key: key}, nil
	}
	if (opcode == opContinue) != r.fragmented {
		return piece{}, broken("an unexpected fragment")
	}
	if n < 0 || n > limit-r.message {
		return piece{}, &CloseError{Code: CodeTooBig, Reason: "message above the limit"}
	}
	if n <= wholeFrame && len(b) < header+int(n) {
		return piece{}, nil
	}
	if opcode != opContinue {
		r.kind = opcode
	}
	r.fragmented = final == 0
	r.message += n
	r.left, r.pos, r.key, r.final = n, 0, key, final
	p := r.more(b, header)
	p.empty = n == 0
	return p, nil
}

// more returns the part of the current frame that b has behind its header.
func (r *frameReader) more(b []byte, header int) piece {
	n := int(min(r.left, int64(len(b)-header)))
	p := piece{size: header + n, header: header, first: r.kind, key: r.key, pos: r.pos}
	if r.begun {
		p.first = opContinue
	}
	r.left -= int64(n)
	r.pos = (r.pos + n) & 3
	r.begun = r.begun || n > 0 || r.left == 0
	if r.left == 0 && r.final != 0 {
		p.first |= bitFinal
		r.begun, r.message = false, 0
	}
	return p
}

// frameHeader returns the size of the header at the beginning of b and that of its
// payload. A header of 0 means that more bytes are needed.
func frameHeader(b []byte) (header int, payload int64, err *CloseError) {
	if len(b) < 2 {
		return 0, 0, nil
	}
	opcode, n := b[0]&0xF, int64(b[1]&^bitMask)
	switch {
	case b[0]&0x70 != 0:
		return 0, 0, broken("a reserved bit is set")
	case b[1]&bitMask == 0:
		return 0, 0, broken("a client's frame without a mask")
	case opcode > opBinary && opcode < opClose || opcode > opPong:
		return 0, 0, broken("an unknown opcode")
	case opcode >= opClose && (n > maxControl || b[0]&bitFinal == 0):
		return 0, 0, broken("a control frame that is too long or fragmented")
	}
	header = 2
	switch {
	case n == 126:
		header += 2
	case n == 127:
		header += 8
	}
	if len(b) < header+4 {
		return 0, 0, nil
	}
	switch n {
	case 126:
		n = int64(binary.BigEndian.Uint16(b[2:]))
	case 127:
		n = int64(binary.BigEndian.Uint64(b[2:])) // negative if the top bit is set, and then rejected as too big
	}
	return header + 4, n, nil
}

// broken returns the error for a violation of the protocol.
func broken(how string) *CloseError { return &CloseError{Code: CodeProtocol, Reason: how} }

// handleControl handles a control frame. It answers a ping, and returns an error for a
// close frame.
func (c *Conn) handleControl(opcode byte, body []byte) *CloseError {
	switch {
	case opcode == opPing:
		c.pinged(string(body))
	case opcode != opClose:
	case len(body) == 0:
		return &CloseError{Code: CodeNoStatus, Remote: true}
	default:
		if len(body) < 2 || !utf8.Valid(body[2:]) {
			return broken("an invalid close frame")
		}
		code := CloseCode(binary.BigEndian.Uint16(body))
		if !code.receivable() {
			return broken("an invalid close code")
		}
		return &CloseError{Code: code, Reason: string(body[2:]), Remote: true}
	}
	return nil
}

// receivable reports whether a peer may send the code (RFC 6455 section 7.4).
func (c CloseCode) receivable() bool {
	return c >= 1000 && c <= 1014 && c.sendable() || c >= 3000 && c <= 4999
}
