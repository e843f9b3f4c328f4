package peer

import (
	"cmp"
	"io"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// outbox is what waits to be written: a first-in-first-out queue, and behind it
// the bulk lane of large content results, of which one is taken when the queue
// is empty. Its mutex is a leaf: nothing is called under it.
type outbox struct {
	mu      sync.Mutex
	queue   []Frame
	pooled  *[]Frame // where the queue came from; nil while empty: an idle connection holds none
	bytes   int      // of the queue and of what is being written, exempt frames apart
	writing bool     // somebody has the writer's role
	closed  bool     // nothing can be pushed any more
	stopped bool     // and nothing is written any more
	written int      // bytes that were written and still count; the role's own
	bulk    []bulk
	drained func()
}

// bulk is a large result.
type bulk struct {
	stream func(io.Writer) error
	after  func() // it was written, or never will be
}

// exempt is a frame that does not count: an answer that the other side asked for and
// waits for, one at a time (initialize, reconnect, subscribe).
type exempt struct{ Frame }

func isExempt(f Frame) bool {
	_, ok := f.(exempt)
	return ok
}

const keepFrames = 256 // a queue of more is not kept for reuse

var queues = sync.Pool{New: func() any { q := make([]Frame, 0, 16); return &q }}

// Push queues a frame; it never waits. A queue above Options.QueueBytes closes
// the connection with CodeSlow: no frame is dropped from a connection that
// lives. After the end it does nothing.
func (p *Peer) Push(f Frame) {
	if begin, _ := p.enqueue(f, true); begin {
		p.startWriter()
	}
}

// PushShared is Push for messages that go to many.
func (p *Peer) PushShared(s Shared) {
	if !p.conn.Masks() {
		p.Push(together{s})
		return
	}
	for _, m := range s.Messages() {
		p.Push(text(m))
	}
}

// Notify pushes a notification of one peer; nil params leave the member out.
func (p *Peer) Notify(method string, params any) error {
	f, err := Notification(method, params)
	if err != nil {
		return err
	}
	p.pushOwn(f)
	return nil
}

// pushOwn queues a frame that is this peer's alone: behind what was published to
// many before.
func (p *Peer) pushOwn(f Frame) {
	p.opts.Before()
	p.Push(f)
}

// pushQuietly is pushOwn, but starts no writer: the caller calls flush, once it
// holds no lock. Somebody else's push may take the frame along before.
func (p *Peer) pushQuietly(f Frame) bool {
	p.opts.Before()
	_, ok := p.enqueue(f, false)
	return ok
}

// enqueue reports whether the writer's role is the caller's now, who wanted it.
func (p *Peer) enqueue(f Frame, wanted bool) (begin, ok bool) {
	size := 0
	if !isExempt(f) {
		size = f.Size()
	}
	o := &p.out
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false, false
	}
	if o.bytes+size > p.opts.QueueBytes {
		o.closed, o.stopped, o.queue, o.pooled = true, true, nil, nil
		o.mu.Unlock()
		p.tooSlow()
		return false, false
	}
	o.bytes += size
	if o.pooled == nil {
		o.pooled = queues.Get().(*[]Frame)
		o.queue = *o.pooled
	}
	o.queue = append(o.queue, f)
	if wanted {
		begin = p.takeRole()
	}
	o.mu.Unlock()
	return begin, true
}

// takeRole makes the caller the writer, unless there is one. It is called under
// the outbox's lock.
func (p *Peer) takeRole() bool {
	if p.out.writing {
		return false
	}
	p.out.writing = true
	p.wg.Add(1)
	return true
}

func (p *Peer) tooSlow() {
	p.abort(ws.CodeSlow, "the queue of outgoing messages is full; reconnect to resume")
}

// pushBulk queues a large result in the second lane.
func (p *Peer) pushBulk(b bulk) bool {
	p.opts.Before()
	o := &p.out
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false
	}
	o.bulk = append(o.bulk, b)
	begin := p.takeRole()
	o.mu.Unlock()
	if begin {
		p.startWriter()
	}
	return true
}

// drain closes the outbox for new frames and calls then once the rest is
// written; false means that nothing is under way.
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

// stop drops what is queued.
func (o *outbox) stop() {
	o.mu.Lock()
	results := o.bulk
	o.closed, o.stopped = true, true
	o.queue, o.pooled, o.bulk = nil, nil, nil
	o.mu.Unlock()
	for _, b := range results {
		b.after()
	}
}

// take returns what is to be written next: a whole queue or one bulk result. It
// settles what was written before. Neither ends the role.
func (o *outbox) take() (queue *[]Frame, result *bulk, drained func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= o.written
	o.written = 0
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

// wrote counts a frame whose bytes are on their way, and tells it. It is called by
// who has the writer's role.
func (o *outbox) wrote(f Frame, b []byte) {
	if !isExempt(f) {
		o.written += cmp.Or(f.Size(), len(b))
	}
	tell(f, len(b))
}

// charge counts a lazy frame that has been encoded.
func (o *outbox) charge(n, budget int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += n
	return o.bytes <= budget
}
