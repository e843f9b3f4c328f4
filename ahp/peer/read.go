package peer

import (
	"bytes"
	"io"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// heads holds the beginning of a message. It is taken only when a message
// begins, so that an idle connection holds none.
var heads = sync.Pool{New: func() any { return new([4096]byte) }}

// read takes a message up to its params, and a payload that is wanted. err is the
// connection's end.
func (s *stream) read(m *ws.Message, env *envelope) (size int, refused *refusal, err error) {
	s.payload = nil
	head := heads.Get().(*[4096]byte)
	defer heads.Put(head)
	n, over, err := m.Fill(head[:])
	if err != nil {
		return 0, nil, err
	}
	if over {
		msg := append(make([]byte, 0, n), head[:n]...)
		return n, parse(msg, s.p.opts, env), nil
	}
	if at, g := s.payloadIn(head[:]); g != nil {
		return s.readPayload(head[:], at, m, g, env)
	}
	msg, err := m.Rest(head[:])
	if err != nil {
		return 0, nil, err
	}
	return len(msg), parse(msg, s.p.opts, env), nil
}

// payloadIn looks whether the beginning of a message ends inside the payload of
// an answer: where its string begins, and what gathers it.
func (s *stream) payloadIn(head []byte) (at int, g *gatherer) {
	if s.p.wanted.none() {
		return 0, nil
	}
	var env envelope
	at, pointer := scan.OpenString(head, s.p.opts.limits(), &env)
	id, ok := env.callID()
	if at == 0 || !ok {
		return 0, nil
	}
	switch where := s.p.wanted.get(id); {
	case where == nil:
	case pointer == "/result"+where.Text:
		return at, &gatherer{}
	case pointer == "/result"+where.Base64:
		return at, &gatherer{base64: true}
	}
	return 0, nil
}

// readPayload reads the string that begins at head[at] while it arrives, and
// then what stands behind it. Both are judged as the whole message would be:
// "" in the place of a valid string changes nothing else.
func (s *stream) readPayload(head []byte, at int, m *ws.Message, g *gatherer, env *envelope) (size int, refused *refusal, err error) {
	defer g.free()
	piece := getPiece()[:pieceSize-3]
	defer putPiece(piece)
	have := copy(piece, head[at+1:])
	for {
		taken, closed, err := g.take(piece[:have])
		if err != nil {
			_, lost := io.Copy(io.Discard, m)
			return 0, env.judge('{', err), lost
		}
		have = copy(piece, piece[taken:have])
		if closed {
			break
		}
		n, err := m.Read(piece[have:])
		if have += n; n == 0 && err == io.EOF {
			return 0, env.judge('{', scan.ErrSyntax), nil
		}
		if err != nil && err != io.EOF {
			return 0, nil, err
		}
	}
	shell := bytes.Join([][]byte{head[:at], piece[:have]}, []byte(`""`))
	msg, err := m.Rest(shell)
	if err != nil {
		return 0, nil, err
	}
	s.payload = g.done()
	return len(msg), parse(msg, s.p.opts, env), nil
}
