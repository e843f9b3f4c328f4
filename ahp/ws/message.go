package ws

import (
	"bytes"
	"io"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
	"github.com/gorilla/websocket"
)

// Message is a text message that is being received. The connection's reader must read
// it to the end before it reads anything else.
type Message struct {
	c   *Conn
	r   io.Reader
	had int64 // bytes of the message that have been read
}

// NextMessage waits for a text message and returns it when it begins. The Message is
// valid until the next call. The errors are those of [Conn.ReadMessage].
func (c *Conn) NextMessage() (*Message, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	c.out.reading <- struct{}{}
	defer func() { <-c.out.reading }()
	if c.sealed != nil {
		c.message = Message{c: c}
		return &c.message, c.nextSealed()
	}
	kind, r, err := c.nextReader()
	if err != nil {
		return nil, c.readFailed(err)
	}
	if kind != websocket.TextMessage {
		return nil, c.out.shut(&CloseError{Code: CodeUnsupported, Reason: "text messages only"}, true)
	}
	c.message = Message{c: c, r: r}
	return &c.message, nil
}

// Read reads bytes that have arrived. The error is io.EOF at the end of the message,
// and otherwise the connection's *[CloseError].
func (m *Message) Read(p []byte) (int, error) {
	if err := m.c.Err(); err != nil {
		return 0, err
	}
	m.c.out.reading <- struct{}{}
	defer func() { <-m.c.out.reading }()
	return m.read(p)
}

// Fill reads until p is full. over reports that the message ended before.
func (m *Message) Fill(p []byte) (n int, over bool, err error) {
	if err := m.c.Err(); err != nil {
		return 0, false, err
	}
	m.c.out.reading <- struct{}{}
	defer func() { <-m.c.out.reading }()
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

// read is Read under the reading lock.
func (m *Message) read(p []byte) (int, error) {
	n, err := m.source().Read(p)
	m.had += int64(n)
	switch {
	case m.had > m.c.readLimit.Load():
		return n, m.c.readFailed(websocket.ErrReadLimit)
	case err != nil && err != io.EOF:
		return n, m.c.readFailed(err)
	}
	return n, err
}

// source returns what the message's bytes are read from.
func (m *Message) source() io.Reader {
	if m.c.sealed != nil {
		return m.c.sealed
	}
	return m.r
}

// Rest returns head and the unread bytes of the message, in new memory of the exact
// size. It collects them in pooled pieces first, because growing one slice clears and
// copies several times as many bytes.
func (m *Message) Rest(head []byte) ([]byte, error) {
	return m.RestWithin(head, func(int) error { return nil })
}

// RestWithin is Rest that calls take with the number of bytes before it collects more. It
// ends with the error of take.
func (m *Message) RestWithin(head []byte, take func(n int) error) ([]byte, error) {
	parts := [][]byte{head}
	defer func() {
		for _, p := range parts[1:] {
			putPiece(p)
		}
	}()
	for {
		if err := take(pieceSize); err != nil {
			return nil, err
		}
		piece := getPiece()
		n, over, err := m.Fill(piece)
		parts = append(parts, piece[:n])
		if err != nil {
			return nil, err
		}
		if over {
			return joinPieces(parts), nil
		}
	}
}

// joinPieces copies a long message. Unlike slices.Concat, bytes.Join does not clear the new memory.
func joinPieces(parts [][]byte) (msg []byte) {
	heavy.Do(len(parts)*pieceSize, func() { msg = bytes.Join(parts, nil) })
	return msg
}

// heads pools buffers for the beginnings of messages. One is taken only when a message
// begins, so that an idle connection holds none.
var heads = sync.Pool{New: func() any { return new([4096]byte) }}

func getPiece() []byte {
	p := pieces.Get().(*[]byte)
	return (*p)[:pieceSize]
}

func putPiece(p []byte) {
	p = p[:0]
	pieces.Put(&p)
}
