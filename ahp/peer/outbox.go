package peer

import (
	"cmp"
	"io"
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// outbox has the frames that wait to be written, and writes them (writer.go). It has
// a queue, and the large content results, of which one is taken whenever the queue is
// empty. Its mutex is a leaf: nothing is called under it.
type outbox struct {
	conn    *ws.Conn
	opts    *Options
	writers sync.WaitGroup // goroutines with the writer role, at most one
	mu      sync.Mutex
	queue   []Frame
	pooled  *[]Frame // the pool's slice behind queue; nil if the queue is empty, so that an idle connection holds none
	bytes   int      // of the frames that are queued or being written, without exempt ones
	writing bool     // a goroutine has the writer role
	closed  bool     // frames are not accepted any more
	stopped bool     // frames are not written any more
	written int      // bytes that have been written but are still in bytes; belongs to the writer role
	bulk    []bulk
	drained func() // called once the queue has been written

	holding holding
	replies replies

	rewrite atomic.Pointer[func(text []byte) [][]byte] // nil for most peers
}

// bulk is a large content result.
type bulk struct {
	stream func(io.Writer) error // writes it
	after  func()                // called once it has been written or dropped
}

// exempt is a frame outside the limit on queued bytes: an answer to a request that
// a client sends once and waits for (initialize, reconnect, subscribe).
type exempt struct {
	Frame
	held []Held // what the answer keeps in memory until it is written
}

func isExempt(f Frame) bool {
	_, ok := f.(exempt)
	return ok
}

const keepFrames = 256 // a larger queue is not kept for reuse

var queues = sync.Pool{New: func() any { q := make([]Frame, 0, 16); return &q }}

// Push queues a frame and never waits. If the queue exceeds Options.QueueBytes, the
// connection is closed with CodeSlow, so an open connection never loses a frame.
// After the end Push does nothing.
func (p *Peer) Push(f Frame) { p.out.push(f) }

// PushShared is Push for messages to many peers.
func (p *Peer) PushShared(s Shared) {
	if !p.conn.Masks() && p.out.rewrite.Load() == nil {
		p.Push(framedShared{s})
		return
	}
	for _, m := range s.Messages() {
		p.Push(text(m))
	}
}

// Rewrite makes the writer pass each further JSON text to rewrite, and send the texts that
// it returns in its place, which may be none. rewrite is called by one goroutine at a time,
// in the order of the texts, without locks; it must not change its argument. Large content
// results are not passed. Rewrite must be called before anything that needs it is queued.
// nil ends it.
func (p *Peer) Rewrite(rewrite func(text []byte) [][]byte) {
	if rewrite == nil {
		p.out.rewrite.Store(nil)
		return
	}
	p.out.rewrite.Store(&rewrite)
}

// Notify pushes a notification to this peer alone. nil params omit the member.
func (p *Peer) Notify(method string, params any) error {
	f, err := Notification(method, params)
	if err != nil {
		return err
	}
	p.out.pushOwn(f)
	return nil
}

// push is Peer.Push.
func (o *outbox) push(f Frame) {
	if begin, _ := o.enqueue(f, true); begin {
		o.startWriter()
	}
}

// pushOwn pushes a frame for this peer alone, behind the frames that were published
// to many peers before.
func (o *outbox) pushOwn(f Frame) {
	o.opts.FlushShared()
	o.push(f)
}

// pushUnflushed is pushOwn without starting a writer. The caller calls flush once it
// holds no lock. Another push might have the frame written before.
func (o *outbox) pushUnflushed(f Frame) bool {
	o.opts.FlushShared()
	_, ok := o.enqueue(f, false)
	return ok
}

// enqueue queues a frame. If wanted is true and no goroutine has the writer role,
// the caller gets it, and begin is true. ok is false if the outbox is closed.
func (o *outbox) enqueue(f Frame, wanted bool) (begin, ok bool) {
	size := 0
	if !isExempt(f) {
		size = f.Size()
	}
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false, false
	}
	if o.bytes+size > o.opts.QueueBytes {
		o.closed, o.stopped, o.queue, o.pooled = true, true, nil, nil
		o.dropHeld()
		o.mu.Unlock()
		o.tooSlow()
		return false, false
	}
	o.bytes += size
	o.holding.add(f, size, o.bytes)
	if isExempt(f) {
		o.replies.queued++
	}
	if o.pooled == nil {
		o.pooled = queues.Get().(*[]Frame)
		o.queue = *o.pooled
	}
	o.queue = append(o.queue, f)
	if wanted {
		begin = o.takeRole()
	}
	o.mu.Unlock()
	return begin, true
}

// waiting returns how many bytes wait to be written.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}

// takeRole gives the caller the writer role, unless a goroutine has it. The caller
// holds the outbox's lock.
func (o *outbox) takeRole() bool {
	if o.writing {
		return false
	}
	o.writing = true
	o.writers.Add(1)
	return true
}

// abort ends the connection at once and drops the queued frames. The client can
// reconnect to get them.
func (o *outbox) abort(code ws.CloseCode, reason string) {
	o.stop()
	o.conn.Close(code, reason)
}

// tooSlow closes a connection whose other side does not read fast enough.
func (o *outbox) tooSlow() {
	o.abort(ws.CodeSlow, "the queue of outgoing messages is full; reconnect to resume")
}

// pushBulk queues a large content result. It returns false after the end.
func (o *outbox) pushBulk(b bulk) bool {
	o.opts.FlushShared()
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false
	}
	o.bulk = append(o.bulk, b)
	begin := o.takeRole()
	o.mu.Unlock()
	if begin {
		o.startWriter()
	}
	return true
}

// dropHeld counts the queue as dropped. The caller holds the outbox's lock.
func (o *outbox) dropHeld() {
	o.holding.drop()
	o.replies.shrink(true)
}

// drain closes the outbox for new frames, and calls then once the queued ones have
// been written. It returns false, without a call, if none are queued.
func (o *outbox) drain(then func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if (o.writing || o.pooled != nil) && !o.stopped && o.drained == nil {
		o.drained = then
		return true
	}
	return o.drained != nil
}

// stop drops all queued frames.
func (o *outbox) stop() {
	o.mu.Lock()
	results := o.bulk
	o.closed, o.stopped = true, true
	o.queue, o.pooled, o.bulk = nil, nil, nil
	o.dropHeld()
	o.mu.Unlock()
	for _, b := range results {
		b.after()
	}
}

// take returns the next frames to write: the whole queue, or one large result. It
// first subtracts the written bytes. If nothing is queued, the writer role ends, and
// the caller calls endRole with drained.
func (o *outbox) take() (queue *[]Frame, result *bulk, drained func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= o.written
	o.written = 0
	o.holding.release()
	o.replies.shrink(o.stopped)
	switch {
	case o.stopped:
	case o.pooled != nil:
		queue, *o.pooled = o.pooled, o.queue
		o.queue, o.pooled = nil, nil
		return queue, nil, nil
	case len(o.bulk) > 0:
		b := o.bulk[0]
		o.bulk = o.bulk[1:]
		if len(o.bulk) == 0 {
			o.bulk = nil
		}
		return nil, &b, nil
	}
	o.writing = false
	drained, o.drained = o.drained, nil
	return nil, nil, drained
}

// wrote counts a written frame and notifies it. The caller has the writer role.
func (o *outbox) wrote(f Frame, b []byte) {
	o.holding.wrote++
	if isExempt(f) {
		o.replies.wrote++
	} else {
		o.written += cmp.Or(f.Size(), len(b))
	}
	notifyWritten(f, len(b))
}

// charge counts a frame that was encoded late, and reports whether the queue is
// within the limit.
func (o *outbox) charge(n, budget int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += n
	return o.bytes <= budget
}
