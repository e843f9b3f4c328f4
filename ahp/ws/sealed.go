package ws

import (
	"encoding/binary"
	"io"

	"github.com/gorilla/websocket"
)

// Codec encrypts the frames of a sealed connection. A frame that was changed, repeated,
// moved or lost must make Open fail. A Conn calls each method from one goroutine at a time.
type Codec interface {
	// Seal encrypts plain in place and returns it with a tag of CodecOverhead bytes, for
	// which plain has the capacity.
	Seal(plain []byte) ([]byte, error)
	// Open decrypts a frame in place. An error ends the connection.
	Open(sealed []byte) ([]byte, error)
}

// CodecOverhead is how many bytes a Codec adds to a frame.
const CodecOverhead = 16

// maxSealedFrame limits a frame of a sealed connection, in bytes. It is the limit of a
// Noise message.
const maxSealedFrame = 1<<16 - 1

// A sealed connection sends binary messages, each of which is one encrypted frame. Its
// plaintext is one or more pieces of the connection's text messages, in order:
//
//	1 byte   1 if the text message ends with this piece; 0 if it continues in the next frame
//	2 bytes  the length of the piece, big-endian
//	         the bytes of the piece
//
// A piece that ends no message is the last one of its frame, and not empty.
const (
	pieceHeader = 3
	pieceMore   = 0
	pieceEnd    = 1
)

// Seal makes the connection a sealed one: all later text messages are encrypted by codec.
// It must be called before anything else reads or writes.
func (c *Conn) Seal(codec Codec) { c.sealed = &sealed{c: c, codec: codec, last: true} }

// Sealed reports whether the connection is sealed.
func (c *Conn) Sealed() bool { return c.sealed != nil }

// peeked is the beginning of a message that nothing has read.
type peeked struct {
	kind int
	r    io.Reader
}

// nextReader is gorilla's NextReader, also for a message that IsBinary has seen.
func (c *Conn) nextReader() (int, io.Reader, error) {
	if next := c.peeked; next != nil {
		c.peeked = nil
		return next.kind, next.r, nil
	}
	return c.ws.NextReader()
}

// IsBinary waits for a message and reports whether it is binary. The message can still be
// read.
func (c *Conn) IsBinary() (bool, error) {
	c.out.reading <- struct{}{}
	defer func() { <-c.out.reading }()
	kind, r, err := c.nextReader()
	if err != nil {
		return false, c.readFailed(err)
	}
	c.peeked = &peeked{kind, r}
	return kind == websocket.BinaryMessage, nil
}

// ReadBinary returns the next message of a connection that is not sealed yet. The message
// must be binary and have at most limit bytes; otherwise the connection is closed with
// CodeSealBroken.
func (c *Conn) ReadBinary(limit int) ([]byte, error) {
	c.out.reading <- struct{}{}
	defer func() { <-c.out.reading }()
	b := make([]byte, limit+1)
	n, err := c.readFrame(b)
	return b[:n], err
}

// readFrame reads a binary message that is shorter than b. The caller has the reading lock.
func (c *Conn) readFrame(b []byte) (n int, err error) {
	kind, r, err := c.nextReader()
	if err != nil {
		return 0, c.readFailed(err)
	}
	if kind != websocket.BinaryMessage {
		return 0, c.sealBroken("a clear message, want a sealed one")
	}
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	switch {
	case err == nil || n == len(b):
		return 0, c.sealBroken("a sealed frame above the limit")
	case err != io.EOF:
		return 0, c.readFailed(err)
	}
	return n, nil
}

// sealBroken closes the connection and returns the cause.
func (c *Conn) sealBroken(why string) error {
	return c.out.shut(&CloseError{Code: CodeSealBroken, Reason: why}, true)
}

// WriteBinary writes a binary message of a connection that is not sealed yet.
func (c *Conn) WriteBinary(b []byte) error {
	c.out.writing <- struct{}{}
	defer func() { <-c.out.writing }()
	return c.out.write(appendFrame(nil, opBinary|bitFinal, b, c.out.client))
}

// refuseClear closes a sealed connection on which bytes would have been sent clear.
func (c *Conn) refuseClear() error {
	return c.out.shut(&CloseError{Code: CodeInternal, Reason: "a frame that is not sealed"}, true)
}

// sealed is the state of a sealed connection. Its fields below codec belong to the reader
// and are guarded by the reading lock.
type sealed struct {
	c     *Conn
	codec Codec

	frame []byte // a pooled piece that holds the rest of a frame; nil between frames
	rest  []byte // the pieces of the frame that have not begun
	part  []byte // unread bytes of the current piece
	last  bool   // the current piece ends its message
}

// nextSealed begins the next message. It skips what is unread of the last one.
func (c *Conn) nextSealed() error {
	for !c.sealed.last {
		if err := c.sealed.next(); err != nil {
			return err
		}
	}
	return c.sealed.next()
}

// Read reads from the current message.
func (s *sealed) Read(p []byte) (int, error) {
	for len(s.part) == 0 {
		if s.last {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.part)
	if s.part = s.part[n:]; len(s.part) == 0 && len(s.rest) == 0 {
		s.release()
	}
	return n, nil
}

// next begins the next piece. It reads a frame if there is none.
func (s *sealed) next() error {
	if len(s.rest) == 0 {
		if err := s.read(); err != nil {
			return err
		}
	}
	b := s.rest
	if len(b) < pieceHeader || b[0] > pieceEnd {
		return s.c.sealBroken("a malformed sealed frame")
	}
	n := int(binary.BigEndian.Uint16(b[1:]))
	b, s.last = b[pieceHeader:], b[0] == pieceEnd
	if n > len(b) || !s.last && (n == 0 || n < len(b)) {
		return s.c.sealBroken("a malformed sealed frame")
	}
	s.part, s.rest = b[:n], b[n:]
	if len(b) == 0 {
		s.release()
	}
	return nil
}

// read reads and decrypts a frame.
func (s *sealed) read() error {
	s.release()
	b := getPiece()
	n, err := s.c.readFrame(b[:maxSealedFrame+1])
	if err == nil {
		var failed error
		if s.rest, failed = s.codec.Open(b[:n]); failed != nil {
			err = s.c.sealBroken("a sealed frame does not match its key and place")
		}
	}
	if err != nil {
		s.rest = nil
		putPiece(b)
		return err
	}
	s.frame = b
	return nil
}

// release returns the frame to its pool: an idle connection holds none.
func (s *sealed) release() {
	if s.frame != nil {
		putPiece(s.frame)
		s.frame = nil
	}
}
