package ws

import (
	"bytes"
	"io"
	"sync"

	"github.com/gorilla/websocket"
)

// Message is a text message while it arrives. It belongs to the connection's
// reader, who reads it to its end before anything else.
type Message struct {
	c   *Conn
	r   io.Reader
	had int64 // bytes of the message that were read
}

// NextMessage waits until a text message begins, and returns it. It is good
// until the next call. The errors are those of [Conn.ReadMessage].
func (c *Conn) NextMessage() (*Message, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	kind, r, err := c.ws.NextReader()
	if err != nil {
		return nil, c.readFailed(err)
	}
	if kind != websocket.TextMessage {
		return nil, c.shut(&CloseError{Code: CodeUnsupported, Reason: "text messages only"}, true)
	}
	c.message = Message{c: c, r: r}
	return &c.message, nil
}

// Read returns what has arrived. Its error is io.EOF at the end of the message,
// else the connection's *[CloseError].
func (m *Message) Read(p []byte) (int, error) {
	if err := m.c.Err(); err != nil {
		return 0, err
	}
	m.c.reading <- struct{}{}
	defer func() { <-m.c.reading }()
	return m.read(p)
}

// Fill reads until p is full; over says that the message ended before.
func (m *Message) Fill(p []byte) (n int, over bool, err error) {
	if err := m.c.Err(); err != nil {
		return 0, false, err
	}
	m.c.reading <- struct{}{}
	defer func() { <-m.c.reading }()
	for n < len(p) && err == nil {
		var k int
		k, err = m.read(p[n:])
		n += k
	}
	if err == io.EOF {
		return n, true, nil
	}
	return n, false, err
}

// read reads under the lock.
func (m *Message) read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.had += int64(n)
	switch {
	case m.had > m.c.readLimit.Load():
		return n, m.c.readFailed(websocket.ErrReadLimit)
	case err != nil && err != io.EOF:
		return n, m.c.readFailed(err)
	}
	return n, err
}

// Rest returns head and all of the message that was not read yet, in new memory
// of the exact size. It is gathered in pooled pieces first: growing one slice
// would clear and copy several times its length.
func (m *Message) Rest(head []byte) ([]byte, error) {
	parts := [][]byte{head}
	defer func() {
		for _, p := range parts[1:] {
			putPiece(p)
		}
	}()
	for {
		piece := getPiece()
		n, over, err := m.Fill(piece)
		parts = append(parts, piece[:n])
		if err != nil {
			return nil, err
		}
		if over {
			return bytes.Join(parts, nil), nil // which clears nothing, other than slices.Concat
		}
	}
}

// heads holds the beginning of a message while its length is not known. It is
// taken only when a message begins, so that an idle connection holds none.
var heads = sync.Pool{New: func() any { return new([4096]byte) }}

func getPiece() []byte {
	p := pieces.Get().(*[]byte)
	return (*p)[:pieceSize]
}

func putPiece(p []byte) {
	p = p[:0]
	pieces.Put(&p)
}
