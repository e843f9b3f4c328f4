package peer

import (
	"io"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// outbox is what waits to be written: a first-in-first-out queue, and behind it
// the bulk lane of large content results, of which one is taken when the queue
// is empty. Its mutex is a leaf: nothing is called under it.
type outbox struct {
	mu      sync.Mutex
	queue   *[]item // nil while empty: an idle connection holds none
	bulk    []item
	bytes   int  // of the queue and of what is being written, exempt frames apart
	writing bool // somebody has the writer's role
	written int  // bytes that were written and still count; the role's own
	closed  bool // nothing can be pushed any more
	stopped bool // and nothing is written any more
	drained func()
}

type item struct {
	frame  Frame
	exempt bool
	stream func(io.Writer) error // bulk only, instead of frame
	after  func()                // bulk only: it was written, or never will be
}

const keepItems = 256 // a queue of more is not kept for reuse

var queues = sync.Pool{New: func() any { q := make([]item, 0, 16); return &q }}

// Push queues a frame; it never waits. A queue above Options.QueueBytes closes
// the connection with CodeSlow: no frame is dropped from a connection that
// lives. After the end it does nothing.
func (p *Peer) Push(f Frame) { p.push(item{frame: f}) }

// PushExempt queues a frame outside the byte budget, in the same order. It is
// for answers that the other side asked for and waits for, one at a time:
// initialize, reconnect, subscribe.
func (p *Peer) PushExempt(f Frame) { p.push(item{frame: f, exempt: true}) }

// Notify pushes a notification of one peer; nil params leave the member out.
func (p *Peer) Notify(method string, params any) error {
	f, err := Notification(method, params)
	if err != nil {
		return err
	}
	p.Push(f)
	return nil
}

func (p *Peer) push(it item) bool {
	begin, ok := p.enqueue(it, true)
	if begin {
		p.startWriter()
	}
	return ok
}

// pushQuietly queues a frame and starts no writer: the caller calls flush, once
// it holds no lock. Somebody else's push may take the frame along before.
func (p *Peer) pushQuietly(it item) bool {
	_, ok := p.enqueue(it, false)
	return ok
}

// enqueue reports whether the writer's role is the caller's now, who wanted it.
func (p *Peer) enqueue(it item, wanted bool) (begin, ok bool) {
	size := 0
	if !it.exempt {
		size = it.frame.Size()
	}
	o := &p.out
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false, false
	}
	if o.bytes+size > p.opts.QueueBytes {
		o.closed, o.stopped, o.queue = true, true, nil
		o.mu.Unlock()
		p.tooSlow()
		return false, false
	}
	o.bytes += size
	if o.queue == nil {
		o.queue = queues.Get().(*[]item)
	}
	*o.queue = append(*o.queue, it)
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
func (p *Peer) pushBulk(it item) bool {
	o := &p.out
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false
	}
	o.bulk = append(o.bulk, it)
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
	if (o.writing || o.queue != nil) && !o.stopped && o.drained == nil {
		o.drained = then
		return true
	}
	return o.drained != nil
}

// stop drops what is queued.
func (o *outbox) stop() {
	o.mu.Lock()
	bulk := o.bulk
	o.closed, o.stopped = true, true
	o.queue, o.bulk = nil, nil
	o.mu.Unlock()
	for _, it := range bulk {
		it.after()
	}
}

// take returns what is to be written next: a whole queue or one bulk result. It
// settles what was written before. Neither ends the role.
func (o *outbox) take() (queue *[]item, bulk *item, drained func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= o.written
	o.written = 0
	switch {
	case o.stopped:
	case o.queue != nil:
		queue, o.queue = o.queue, nil
		return queue, nil, nil
	case len(o.bulk) > 0:
		it := o.bulk[0]
		o.bulk = o.bulk[1:]
		if len(o.bulk) == 0 {
			o.bulk = nil
		}
		return nil, &it, nil
	}
	o.writing = false
	drained, o.drained = o.drained, nil
	return nil, nil, drained
}

// charge counts a lazy frame that has been encoded.
func (o *outbox) charge(n, budget int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += n
	return o.bytes <= budget
}
