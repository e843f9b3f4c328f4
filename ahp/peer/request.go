package peer

import (
	"context"
	"io"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Request is one request or notification of the other side. A request gets one
// answer. Methods that answer never wait and may be called while the caller holds
// locks. They do nothing for a notification, or if the request has been answered.
type Request struct {
	// Method is the method's name.
	Method string
	// Params is a valid JSON object within the limits, or nil if absent.
	Params ahp.Value
	// Notification reports that there must be no answer.
	Notification bool

	peer     *Peer
	id       []byte     // as it was sent
	size     int        // of the message, in bytes
	counted  int        // bytes that the message counts in the budget
	limited  *ahp.Error // not nil if the message came too early or costs too much
	refusal  *ahp.Error // not nil if the message cannot be handled
	detached bool       // Go or GoContent was called; written by the handler only
	answered atomic.Bool
	slot     *slot // of a GoContent function, or nil
}

// uncount gives back what the message counts in the budget. It is called once.
func (r *Request) uncount() { r.peer.out.holding.account.Give(budget.Frames, int64(r.counted)) }

// Limited returns why [AdmitHandler] refused the message, or nil. Handle receives only
// notifications that were refused.
func (r *Request) Limited() *ahp.Error { return r.limited }

// ID returns the id as it was sent, or nil for a notification.
func (r *Request) ID() []byte { return r.id }

// Size returns the size of the message in bytes.
func (r *Request) Size() int { return r.size }

// Account returns the connection's account, or nil.
func (r *Request) Account() *budget.Account { return r.peer.out.holding.account }

// Peer returns the peer that received the request.
func (r *Request) Peer() *Peer { return r.peer }

// Decode decodes the params strictly into v. Absent params count as an empty object.
// The error has CodeInvalidParams and names the place.
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

// Reply answers with a result, which is encoded before Reply returns. nil means
// null. An ahp.Value is sent unchanged and must be valid.
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

// ReplyLazy answers with a result that the writer encodes when its turn comes, so
// that a queued snapshot is only a pointer. The result does not count toward
// Options.QueueBytes. encode is called once, without locks.
func (r *Request) ReplyLazy(encode func() (ahp.Value, error)) {
	if !r.claim() {
		return
	}
	r.answer(exempt{Frame: lazy(func() []byte {
		raw, err := encode()
		if err != nil {
			return r.failure(err)
		}
		return resultFrame(r.id, raw)
	})})
}

// ReplyLazyParts is ReplyParts whose parts are made when their turn comes. held counts
// what the answer keeps in memory until it has been written. produce is called once,
// without locks.
func (r *Request) ReplyLazyParts(held []Held, produce func() (size int, parts iter.Seq[[]byte])) {
	if !r.claim() {
		return
	}
	r.answer(exempt{held: held, Frame: lazyParts(func() partsFrame { return r.inParts(produce()) })})
}

// ReplyParts is ReplyLazy for a large result in encoded parts, of size bytes in all.
// Together they must be one valid JSON value. They are written one after the other,
// without being copied into one.
func (r *Request) ReplyParts(size int, parts iter.Seq[[]byte]) {
	if !r.claim() {
		return
	}
	r.answer(exempt{Frame: r.inParts(size, parts)})
}

// inParts returns the response whose result has the given parts.
func (r *Request) inParts(size int, parts iter.Seq[[]byte]) partsFrame {
	head, tail := appendResultHead(nil, r.id), []byte{'}'}
	return partsFrame{len(head) + size + len(tail), func(yield func([]byte) bool) {
		if !yield(head) {
			return
		}
		for part := range parts {
			if !yield(part) {
				return
			}
		}
		yield(tail)
	}}
}

// ReplyContent answers with a content result. A result above 32 KiB is written when
// the queue is empty, so that it delays no other frame.
func (r *Request) ReplyContent(result ahp.Value) { r.ReplyContentThen(result, func() {}) }

// ReplyContentThen is ReplyContent that calls then once a result above 32 KiB has been
// written or dropped, and at once for a shorter one, which is copied.
func (r *Request) ReplyContentThen(result ahp.Value, then func()) {
	if len(result) <= bulkSize {
		r.Reply(result)
		then()
		return
	}
	r.ReplyStreamThen(func(w io.Writer) error {
		_, err := w.Write(result)
		return err
	}, then)
}

const bulkSize = 32 << 10 // bytes; larger content results wait behind the queue

// ReplyStream answers with a content result that write produces when its turn comes,
// as for a large result of ReplyContent. The bytes must be one valid JSON value. An
// error of write closes the connection, because part of the answer has been sent.
func (r *Request) ReplyStream(write func(io.Writer) error) { r.ReplyStreamThen(write, func() {}) }

// ReplyStreamThen is ReplyStream that calls then once the result has been written or
// dropped.
func (r *Request) ReplyStreamThen(write func(io.Writer) error, then func()) {
	if !r.claim() {
		then()
		return
	}
	free := r.slot.hold()
	release := func() { then(); free() }
	queued := r.peer.out.pushBulk(bulk{after: release, stream: func(w io.Writer) error {
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

// Fail answers with an error. An *ahp.Error that err wraps keeps its code and data.
// Any other error is logged and becomes CodeInternal.
func (r *Request) Fail(err error) {
	if r.claim() {
		r.answer(r.failure(err))
	}
}

// answer queues an answer. If it is given inside Handle, the runner writes it after
// Handle, when no lock is held.
func (r *Request) answer(f Frame) {
	if r.detached {
		r.peer.out.pushOwn(f)
	} else {
		r.peer.out.pushUnflushed(f)
	}
}

// failure returns the error response for err.
func (r *Request) failure(err error) text {
	e := ahp.ToError(err)
	if e.Code == ahp.CodeInternal {
		r.peer.out.opts.Logger.Error("request failed", "method", r.Method, "id", string(r.id), "err", err)
	}
	return errorFrame(r.id, e)
}

// claim reports whether the caller must answer. It is true once per request.
func (r *Request) claim() bool { return !r.Notification && !r.answered.Swap(true) }

// ensureAnswered answers a request that its handler forgot, so that the other side
// does not wait forever.
func (r *Request) ensureAnswered() {
	if r.claim() {
		r.peer.out.opts.Logger.Error("request was not answered", "method", r.Method, "id", string(r.id))
		r.answer(errorFrame(r.id, ahp.ToError(errUnanswered)))
	}
}

// Go runs fn on a goroutine, for work that waits. fn must answer the request. At most
// Options.Tasks functions run at once; others wait in their order. If more than
// Options.TaskQueue wait, or their requests exceed Options.InboxBytes, the connection
// is closed with CodePolicy. ctx ends with the connection, and Wait waits for fn. Go
// must be called inside Handle, at most once.
func (r *Request) Go(fn func(ctx context.Context)) {
	r.detached = true
	r.peer.tasks.launch(r.peer, r.peer.out.opts.Tasks, task{size: r.size, limit: r.peer.out.opts.Tasks, drop: r.uncount, run: func() {
		defer r.uncount()
		fn(&r.peer.ctx)
		r.ensureAnswered()
	}})
}

// GoContent is Go for content reads. At most Options.Contents run at once for one
// canvas, and Options.AllContents for all, so that a provider that does not answer
// holds up only its own canvas. Each counts until its result has been written.
func (r *Request) GoContent(fn func(ctx context.Context)) {
	r.detached = true
	r.peer.contents.launch(r.peer, max(r.peer.out.opts.AllContents, r.peer.out.opts.Contents), task{size: r.size, owner: contentOwner(r.Params), limit: r.peer.out.opts.Contents, drop: r.uncount, run: func() {
		defer r.uncount()
		r.slot = &slot{}
		written := r.slot.hold()
		fn(&r.peer.ctx)
		r.ensureAnswered()
		written()
		r.slot.wait()
	}})
}

// contentOwner returns the part of a content read's URI that names the canvas: the
// scheme and the first segment. It is "" if the params have no such URI.
func contentOwner(params ahp.Value) string {
	var p struct {
		URI string `json:"uri"`
	}
	if ahp.Unmarshal(params, &p) != nil {
		return ""
	}
	scheme, path, ok := strings.Cut(p.URI, ":/")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(path, "/?#"); end >= 0 {
		path = path[:end]
	}
	return scheme + ":/" + path
}
