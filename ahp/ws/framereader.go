package ws

import (
	"encoding/binary"
	"unicode/utf8"
)

// wholeFrame is the size below which a frame is forwarded in one piece: small
// ones cost least whole.
const wholeFrame = 32 << 10

// frameReader finds the frames in what a client sent (RFC 6455 section 5.2) and
// refuses what is none. The zero value is at the beginning of a message.
type frameReader struct {
	left  int64 // bytes of payload that are still to come of a long frame
	pos   int   // how many of it were taken, modulo the key's length
	key   [4]byte
	final byte // bitFinal where the frame ends its message

	fragmented bool // the message goes on in another frame
	begun      bool // a piece of the message has gone on
	message    int64
}

// piece is what [frameReader.next] found: a whole frame, or a part of a long
// one.
type piece struct {
	size    int // of header and payload; 0 says that more must be read
	header  int
	first   byte // first header byte of the frame that carries the piece on
	control byte // the opcode of a control frame, which is not carried on
	empty   bool // a frame without payload, as opposed to a header alone
	key     [4]byte
	pos     int
}

// next takes the piece that b begins with; limit bounds a message in bytes.
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
		return piece{}, broken("a fragment out of order")
	}
	if n < 0 || n > limit-r.message {
		return piece{}, &CloseError{Code: CodeTooBig, Reason: "message above the limit"}
	}
	if n <= wholeFrame && len(b) < header+int(n) {
		return piece{}, nil
	}
	r.fragmented = final == 0
	r.message += n
	r.left, r.pos, r.key, r.final = n, 0, key, final
	p := r.more(b, header)
	p.empty = n == 0
	return p, nil
}

// more takes what there is of the frame under way.
func (r *frameReader) more(b []byte, header int) piece {
	n := int(min(r.left, int64(len(b)-header)))
	p := piece{size: header + n, header: header, first: opText, key: r.key, pos: r.pos}
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

// frameHeader returns the sizes of the header that b begins with and of its
// payload; no header says that more must be read.
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
	case opcode > opText+1 && opcode < opClose || opcode > opPong:
		return 0, 0, broken("an unknown opcode")
	case opcode >= opClose && (n > maxControl || b[0]&bitFinal == 0):
		return 0, 0, broken("a control frame that is long or a fragment")
	case opcode == opText+1:
		return 0, 0, &CloseError{Code: CodeUnsupported, Reason: "text messages only"}
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
		n = int64(binary.BigEndian.Uint64(b[2:])) // negative where the top bit is set: refused as too big
	}
	return header + 4, n, nil
}

func broken(how string) *CloseError { return &CloseError{Code: CodeProtocol, Reason: how} }

// tookControl answers a ping and takes a goodbye, which is the error.
func (c *Conn) tookControl(opcode byte, body []byte) *CloseError {
	switch {
	case opcode == opPing:
		c.owe(string(body), true)
	case opcode != opClose:
	case len(body) == 0:
		return &CloseError{Code: CodeNoStatus, Remote: true}
	default:
		if len(body) < 2 || !utf8.Valid(body[2:]) {
			return broken("a close frame that cannot be read")
		}
		code := CloseCode(binary.BigEndian.Uint16(body))
		if !code.receivable() {
			return broken("a close code that may not be sent")
		}
		return &CloseError{Code: code, Reason: string(body[2:]), Remote: true}
	}
	return nil
}

// receivable reports whether a peer may send the code (RFC 6455 section 7.4).
func (c CloseCode) receivable() bool {
	return c >= 1000 && c <= 1014 && c.sendable() || c >= 3000 && c <= 4999
}
