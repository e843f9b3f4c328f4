package peer

import (
	"context"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// stream is the codec of jsonrpc2, which keeps the table of outgoing calls.
// Everything else bypasses it: requests go from the reader to the inbox, and answers
// to the outbox. jsonrpc2 sees only ids; params and results are passed beside it.
//
// This relies on three facts about the library, which tests check:
//   - OnSend is called right before WriteObject, under the library's send lock, and
//     may change the request's id.
//   - OnRecv is called between ReadObject and the waking of the caller, on the
//     reader's goroutine.
//   - The message that ReadObject fills in can be copied. Once OnRecv has been
//     called, the library does not use its Response if no caller wants it decoded
//     (see answerCopier).
type stream struct {
	p       *Peer
	started sync.WaitGroup // done once p.rpc is set, because the library reads at once
	sending *call          // between onSend and WriteObject; guarded by jsonrpc2's send lock
	result  ahp.Value
	err     *ahp.Error    // result and err are valid between ReadObject and onRecv, on the reader
	answers *answerCopier // nil before the first answer
	payload *payload      // of the last message, or nil; the same holds
	counted int           // bytes that the message being read counts in the budget
}

// callField is the name of the request's field that carries the call through the
// library. It is never encoded.
const callField = "ahp"

func callOf(req *jsonrpc2.Request) *call {
	return req.ExtraFields[0].Value.(*call)
}

func (s *stream) onSend(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
	s.sending = callOf(req)
	req.ID.Num++ // the library counts from 0, which some clients take for no id
	s.sending.id = req.ID.Num
	s.p.calls.sent.add(s.sending.id)
	s.p.payloads.add(s.sending)
}

// WriteObject queues the call that onSend has set. It never waits, because jsonrpc2
// holds its send lock. The caller flushes afterwards.
func (s *stream) WriteObject(any) error {
	c := s.sending
	s.sending = nil
	var id [20]byte
	frame := methodFrame(strconv.AppendUint(id[:0], c.id, 10), c.method, c.params)
	if !s.p.out.pushUnflushed(frame) {
		return jsonrpc2.ErrClosed
	}
	return nil
}

// ReadObject is the connection's reader. It handles messages until one is the answer
// to a call.
func (s *stream) ReadObject(v any) error {
	s.started.Wait()
	for {
		m, err := s.p.conn.NextMessage()
		if err != nil {
			return err
		}
		var env envelope // declared here, so that an idle connection holds none
		size, refused, err := s.read(m, &env)
		if err != nil {
			s.uncount()
			return err
		}
		if s.isAnswer(&env, refused) {
			s.uncount()
			if id, ok := s.takeAnswer(&env); ok {
				return s.fill(v, id)
			}
			continue
		}
		s.deliver(&env, refused, size)
	}
}

// isAnswer reports whether a message is an answer. One without a method, a result
// and an error is an answer only if its id is that of a call, and else a bad request.
func (s *stream) isAnswer(env *envelope, refused *refusal) bool {
	switch {
	case refused == nil:
		return env.method == nil
	case refused.bare:
		id, ok := env.callID()
		return ok && s.p.calls.sent.has(id)
	}
	return false
}

// deliver passes a request to the inbox, or the refusal of one, so that answers have
// the order of the requests.
func (s *stream) deliver(env *envelope, refused *refusal, size int) {
	req := &Request{peer: s.p, size: size, id: env.id, counted: s.counted}
	s.counted = 0
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
	s.p.admit(req)
	s.p.receive(req)
}

// takeAnswer keeps an answer for onRecv and returns its id for jsonrpc2. It counts
// and drops an answer whose id no call can have.
func (s *stream) takeAnswer(env *envelope) (id uint64, ok bool) {
	id, ok = env.callID()
	if !ok {
		s.p.stats.late.Add(1)
		return 0, false
	}
	s.result, s.err = env.answer()
	return id, true
}

// fill tells jsonrpc2 that the call id has its answer.
func (s *stream) fill(v any, id uint64) error {
	if s.answers == nil { // most connections never call
		s.answers = &answerCopier{}
	}
	return s.answers.fill(v, id)
}

// onRecv passes the answer to its call before the caller wakes. req is nil if the
// table has no such call.
func (s *stream) onRecv(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	s.answers.response = resp
	if req == nil {
		s.p.stats.late.Add(1)
	} else {
		c := callOf(req)
		s.p.calls.sent.remove(c.id)
		c.result, c.err = s.result, s.err
		c.payload = s.payload
		s.p.calls.complete(c)
	}
	s.result, s.err = nil, nil
}

// Close is the last method that jsonrpc2 calls, on the reader.
func (s *stream) Close() error {
	s.p.readEnded()
	return nil
}

// noHandler is jsonrpc2's handler. It is never called, because jsonrpc2 sees answers
// only.
type noHandler struct{}

func (noHandler) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// noLog keeps jsonrpc2 from writing to standard error.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
