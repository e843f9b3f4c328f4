package peer

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// heads pools buffers for the beginnings of messages. The reader takes one only when
// a message begins, so that an idle connection holds none.
var heads = sync.Pool{New: func() any { return new([4096]byte) }}

// read reads a message into env, and the payload of a call. size is the message's
// size in bytes. err is the connection's end.
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
		return n, parse(msg, s.p.out.opts, env), nil
	}
	if at, g := s.payloadIn(head[:]); g != nil {
		return s.readPayload(head[:], at, m, g, env)
	}
	msg, err := m.RestWithin(head[:], s.countFrame)
	if err != nil {
		return 0, nil, err
	}
	heavy.Do(len(msg), func() { refused = parse(msg, s.p.out.opts, env) })
	return len(msg), refused, nil
}

// frameWait is how long a message waits for space in the budget before the connection is
// closed. Meanwhile nothing is read from it.
const frameWait = 10 * time.Second

// countFrame counts n bytes of a long message twice: they are collected and then decoded.
func (s *stream) countFrame(n int) error {
	p := s.p
	if p.out.holding.account == nil {
		return nil
	}
	if err := p.out.holding.account.Wait(&p.ctx, frameWait, budget.Frames, int64(2*n)); err != nil {
		p.out.abort(ws.CodeTryLater, budget.ErrFull.Error())
		return p.whyClosed()
	}
	s.counted += 2 * n
	return nil
}

// uncount gives back what the last message counts, unless a request has it.
func (s *stream) uncount() {
	s.p.out.holding.account.Give(budget.Frames, int64(s.counted))
	s.counted = 0
}

// payloadIn reports whether head, the beginning of a message, ends inside the payload
// of a call. If so, it returns where the string begins and a gatherer for it;
// otherwise g is nil.
func (s *stream) payloadIn(head []byte) (at int, g *gatherer) {
	if s.p.payloads.none() {
		return 0, nil
	}
	var env envelope
	at, pointer := scan.OpenString(head, s.p.out.opts.limits(), &env)
	id, ok := env.callID()
	if at == 0 || !ok {
		return 0, nil
	}
	switch where := s.p.payloads.get(id); {
	case where == nil:
	case pointer == "/result"+where.Text:
		return at, &gatherer{}
	case pointer == "/result"+where.Base64:
		return at, &gatherer{base64: true}
	}
	return 0, nil
}

// readPayload decodes the string that begins at head[at] while it arrives, and then
// reads the rest. The result is the same as for the whole message, because putting
// "" in the place of a valid string does not make a message valid or invalid.
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
		if err := s.countFrame(taken); err != nil {
			return 0, nil, err
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
	msg, err := m.RestWithin(shell, s.countFrame)
	if err != nil {
		return 0, nil, err
	}
	s.payload = g.done()
	return len(msg), parse(msg, s.p.out.opts, env), nil
}
