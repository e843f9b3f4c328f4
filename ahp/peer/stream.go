package peer

import (
	"context"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// stream is what jsonrpc2 reads and writes. jsonrpc2 keeps the table of
// outgoing calls; everything else passes it by: requests go from the reader to
// the inbox, our answers straight to the outbox, and of a call the library sees
// a skeleton while the params and the result travel beside it.
//
// That rests on three facts of the library, held by a test: OnSend is called
// right before WriteObject, under its send lock; OnRecv is called between
// ReadObject and the waking of the caller, on the reader's goroutine; what
// ReadObject filled in may be copied, and the Response in it is nobody's once
// OnRecv has been called, where no caller wants it decoded (see shown).
type stream struct {
	p       *Peer
	started sync.WaitGroup // until p.rpc is set: the library reads from the first moment
	sending *call          // between onSend and WriteObject; guarded by jsonrpc2's send lock
	result  ahp.Value
	err     *ahp.Error // result and err: between ReadObject and onRecv, on the reader
	shown   *shown     // nil until the first answer
	payload *payload   // of the message that was read last, or nil; the same holds
}

// callField is the name under which a request carries its call through the
// library. It is never encoded.
const callField = "ahp"

func callOf(req *jsonrpc2.Request) *call {
	return req.ExtraFields[0].Value.(*call)
}

func (s *stream) onSend(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
	s.sending = callOf(req)
	s.sending.id = req.ID.Num
	s.p.wanted.add(s.sending)
}

// WriteObject queues the call that onSend announced. It never waits, so
// jsonrpc2's send lock is never held for long; the caller flushes behind it.
func (s *stream) WriteObject(any) error {
	c := s.sending
	s.sending = nil
	var id [20]byte
	frame := methodFrame(strconv.AppendUint(id[:0], c.id, 10), c.method, c.params)
	if !s.p.pushQuietly(frame) {
		return jsonrpc2.ErrClosed
	}
	return nil
}

// ReadObject reads messages until one is the answer to a call. It is the
// connection's reader.
func (s *stream) ReadObject(v any) error {
	s.started.Wait()
	for {
		m, err := s.p.conn.NextMessage()
		if err != nil {
			return err
		}
		var env envelope // only now: an idle connection holds none
		size, refused, err := s.read(m, &env)
		if err != nil {
			return err
		}
		if refused == nil && env.method == nil {
			if id, ok := s.answered(&env); ok {
				return s.show(v, id)
			}
			continue
		}
		s.arrived(&env, refused, size)
	}
}

// arrived hands a request to the inbox, or the refusal of one, so that answers
// keep the order of the questions.
func (s *stream) arrived(env *envelope, refused *refusal, size int) {
	req := &Request{peer: s.p, size: size, id: env.id}
	switch {
	case refused != nil && refused.silent:
		s.p.stats.unreadable.Add(1)
		req.Notification, req.refusal = true, refused.err
	case refused != nil:
		req.refusal, req.id = refused.err, refused.id
		if req.id == nil {
			req.id = []byte(nullID)
		}
	default:
		req.Method, req.Params, req.Notification = textOf(env.method), env.params, env.id == nil
	}
	s.p.arrived(req)
}

// answered keeps an answer for onRecv and returns its id, which is all that
// jsonrpc2 is to know of it. An answer that is no call's is counted and dropped.
func (s *stream) answered(env *envelope) (id uint64, ok bool) {
	id, ok = env.callID()
	if !ok {
		s.p.stats.late.Add(1)
		return 0, false
	}
	s.result, s.err = env.answer()
	return id, true
}

func (s *stream) show(v any, id uint64) error {
	if s.shown == nil { // most connections are never asked anything
		s.shown = &shown{}
	}
	return s.shown.show(v, id)
}

// onRecv gives the answer to its call, before the caller wakes. A nil request
// is one that the table does not hold.
func (s *stream) onRecv(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	s.shown.response = resp
	if req == nil {
		s.p.stats.late.Add(1)
	} else {
		c := callOf(req)
		c.result, c.err = s.result, s.err
		c.payload = s.payload
		s.p.calls.answered(c)
	}
	s.result, s.err = nil, nil
}

// Close is jsonrpc2's last call, on the reader.
func (s *stream) Close() error {
	s.p.readEnded()
	return nil
}

// noHandler stands where jsonrpc2 wants a handler: it is shown answers only.
type noHandler struct{}

func (noHandler) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// noLog keeps jsonrpc2 from writing to standard error.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
