package peer

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Request is one request or notification of the other side. It is answered
// once; the answers never wait and may be given under the caller's locks. On a
// notification, and after the first, an answer does nothing.
type Request struct {
	Method string
	// Params is a valid JSON object within the limits, or nil where absent.
	Params ahp.Value
	// Notification says that no answer may be given.
	Notification bool

	peer     *Peer
	id       []byte     // the raw token, echoed as it is
	size     int        // of the whole message
	refusal  *ahp.Error // set where the message cannot be handled
	detached bool       // Go was called; written by the handler only
	answered atomic.Bool
	slot     *slot // of a GoContent function
}

// Peer returns who asks.
func (r *Request) Peer() *Peer { return r.peer }

// Decode reads the params strictly into v; absent params are read as an empty
// object, and the error is CodeInvalidParams with the place.
func (r *Request) Decode(v any) error {
	params := r.Params
	if params == nil {
		params = emptyObject
	}
	if err := ahp.Unmarshal(params, v); err != nil {
		return ahp.Errorf(ahp.CodeInvalidParams, "%s", err)
	}
	return nil
}

var emptyObject = ahp.Value("{}")

// Reply answers with a result, which is encoded before Reply returns; nil is an
// explicit null, an ahp.Value passes as it is (it must be valid).
func (r *Request) Reply(result any) {
	if !r.claim() {
		return
	}
	raw, err := encodeParams(result)
	if err != nil {
		r.answer(r.failure(err))
		return
	}
	r.answer(resultFrame(r.id, raw))
}

// ReplyLazy answers with a result that the writer encodes when its turn comes,
// in the order of the queue but outside its byte budget: a snapshot is its
// pointer until then. encode runs once, outside all locks.
func (r *Request) ReplyLazy(encode func() (ahp.Value, error)) {
	if !r.claim() {
		return
	}
	r.answer(exempt{lazy(func() []byte {
		raw, err := encode()
		if err != nil {
			return r.failure(err)
		}
		return resultFrame(r.id, raw)
	})})
}

// ReplyJoined is ReplyLazy for a large result whose parts are encoded already, size
// bytes in all: they leave one behind the other, and are not copied together before.
// They must make one valid JSON value.
func (r *Request) ReplyJoined(size int, parts iter.Seq[[]byte]) {
	if !r.claim() {
		return
	}
	head, tail := appendResultHead(nil, r.id), []byte{'}'}
	r.answer(exempt{joined{len(head) + size + len(tail), func(yield func([]byte) bool) {
		if !yield(head) {
			return
		}
		for part := range parts {
			if !yield(part) {
				return
			}
		}
		yield(tail)
	}}})
}

// ReplyContent answers with a content result. Above 32 KiB it takes the lane
// behind the queue, so that it delays nothing that was ready before it.
func (r *Request) ReplyContent(result ahp.Value) {
	if len(result) <= bulkSize {
		r.Reply(result)
		return
	}
	r.ReplyStream(func(w io.Writer) error {
		_, err := w.Write(result)
		return err
	})
}

const bulkSize = 32 << 10

// ReplyStream answers with a result that write produces piece by piece when its
// turn in the lane of large results comes. The bytes must be one valid JSON
// value; an error of write can only close the connection.
func (r *Request) ReplyStream(write func(io.Writer) error) {
	if !r.claim() {
		return
	}
	release := r.slot.hold()
	queued := r.peer.pushBulk(bulk{after: release, stream: func(w io.Writer) error {
		if _, err := w.Write(appendResultHead(nil, r.id)); err != nil {
			return err
		}
		if err := write(w); err != nil {
			return err
		}
		_, err := w.Write([]byte{'}'})
		return err
	}})
	if !queued {
		release()
	}
}

// Fail answers with an error: an *ahp.Error anywhere in its chain keeps its code
// and data, anything else becomes CodeInternal and is logged here.
func (r *Request) Fail(err error) {
	if r.claim() {
		r.answer(r.failure(err))
	}
}

// answer queues an answer. One that is given in Handle is written by the runner
// when Handle has returned, and holds no lock any more.
func (r *Request) answer(f Frame) {
	if r.detached {
		r.peer.pushOwn(f)
	} else {
		r.peer.pushQuietly(f)
	}
}

func (r *Request) failure(err error) text {
	e := ahp.ToError(err)
	if e.Code == ahp.CodeInternal {
		r.peer.opts.Logger.Error("request failed", "method", r.Method, "id", string(r.id), "err", err)
	}
	return errorFrame(r.id, e)
}

func (r *Request) claim() bool { return !r.Notification && !r.answered.Swap(true) }

// settle answers what was forgotten, so that no caller waits for ever.
func (r *Request) settle() {
	if r.claim() {
		r.peer.opts.Logger.Error("request was not answered", "method", r.Method, "id", string(r.id))
		r.answer(errorFrame(r.id, ahp.ToError(errUnanswered)))
	}
}

// Go runs fn off the ordered runner, for what has to wait; at most Options.Tasks at
// once, others in order behind them. A waiting queue above Options.TaskQueue, or
// requests above Options.InboxBytes, close the connection with CodePolicy. fn must
// answer the request; ctx ends with the connection, and Wait waits for fn. It is
// called once, inside Handle.
func (r *Request) Go(fn func(ctx context.Context)) {
	r.detached = true
	r.peer.launch(&r.peer.tasks, r.peer.opts.Tasks, task{size: r.size, run: func() {
		fn(r.peer.ctx)
		r.settle()
	}})
}

// GoContent is Go for content reads: at most Options.Contents at once, and one
// counts until its result has been written.
func (r *Request) GoContent(fn func(ctx context.Context)) {
	r.detached = true
	r.peer.launch(&r.peer.reads, r.peer.opts.Contents, task{size: r.size, run: func() {
		r.slot = &slot{}
		written := r.slot.hold()
		fn(r.peer.ctx)
		r.settle()
		written()
		r.slot.wait()
	}})
}
