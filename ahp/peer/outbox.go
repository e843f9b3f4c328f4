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
	writing bool // a writer goroutine is under way
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

const (
	keepItems = 256      // a queue of more is not kept for reuse
	batchSize = 64 << 10 // bytes that are handed to the connection at once
)

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
	size := 0
	if !it.exempt {
		size = it.frame.Size()
	}
	o := &p.out
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false
	}
	if o.bytes+size > p.opts.QueueBytes {
		o.closed, o.stopped, o.queue = true, true, nil
		o.mu.Unlock()
		p.tooSlow()
		return false
	}
	o.bytes += size
	if o.queue == nil {
		o.queue = queues.Get().(*[]item)
	}
	*o.queue = append(*o.queue, it)
	p.startWriter()
	o.mu.Unlock()
	return true
}

func (p *Peer) tooSlow() {
	p.abort(ws.CodeSlow, "the queue of outgoing messages is full; reconnect to resume")
}

// pushBulk queues a large result in the second lane.
func (p *Peer) pushBulk(it item) bool {
	o := &p.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.bulk = append(o.bulk, it)
	p.startWriter()
	return true
}

// startWriter is called under the outbox's lock.
func (p *Peer) startWriter() {
	if !p.out.writing {
		p.out.writing = true
		p.wg.Add(1)
		go p.write()
	}
}

// drain closes the outbox for new frames and calls then once the rest is
// written; false means that nothing is under way.
func (o *outbox) drain(then func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.writing && !o.stopped && o.drained == nil {
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
// settles what was written before. Neither ends the writer.
func (o *outbox) take(written int) (queue *[]item, bulk *item, drained func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= written
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

// write is the writer: it exists only while something is queued.
func (p *Peer) write() {
	defer p.wg.Done()
	written := 0
	for {
		queue, bulk, drained := p.out.take(written)
		var err error
		switch {
		case queue != nil:
			written, err = p.writeQueue(*queue)
			recycle(queue)
		case bulk != nil:
			written, err = 0, p.conn.Stream(bulk.stream)
			bulk.after()
		default:
			if drained != nil {
				drained()
			}
			return
		}
		if err != nil {
			p.out.stop()
		}
	}
}

func recycle(queue *[]item) {
	if cap(*queue) > keepItems {
		return
	}
	clear(*queue)
	*queue = (*queue)[:0]
	queues.Put(queue)
}

var batches = sync.Pool{New: func() any { b := make([][]byte, 0, 64); return &b }}

// writeQueue hands the frames to the connection in batches and returns how many
// bytes of the budget they were. Lazy frames are encoded when their turn comes,
// so that at most one large one is in memory, and count from then on.
func (p *Peer) writeQueue(items []item) (written int, err error) {
	batch := batches.Get().(*[][]byte)
	defer func() {
		clear(*batch)
		*batch = (*batch)[:0]
		batches.Put(batch)
	}()
	size := 0
	for _, it := range items {
		b := it.frame.Bytes()
		if !it.exempt {
			written += len(b)
			if it.frame.Size() == 0 && !p.out.charge(len(b), p.opts.QueueBytes) {
				p.tooSlow()
				return written, p.Err()
			}
		}
		*batch = append(*batch, b)
		if size += len(b); size < batchSize {
			continue
		}
		if err := p.conn.WriteBatch(*batch); err != nil {
			return written, err
		}
		clear(*batch)
		*batch, size = (*batch)[:0], 0
	}
	return written, p.conn.WriteBatch(*batch)
}

// charge counts a lazy frame that has been encoded.
func (o *outbox) charge(n, budget int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += n
	return o.bytes <= budget
}
