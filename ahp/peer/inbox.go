package peer

import (
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// inbox has the requests that wait for the runner. If it is full, the connection is
// closed, so that the reader never waits.
type inbox struct {
	mu      sync.Mutex
	queue   []*Request
	bytes   int
	running bool
	ended   bool // the reader has ended; the runner finishes the peer
	rate    bucket
}

// receive handles a request or queues it. Only the reader calls it. A refusal is
// queued like a request, so that its answer keeps its place. Too many messages per
// second close the connection.
func (p *Peer) receive(req *Request) {
	switch {
	case !p.in.rate.take(p.out.opts.MessageRate, float64(p.out.opts.MessageBurst)):
		req.uncount()
		p.out.abort(ws.CodePolicy, "too many messages a second")
	case p.out.opts.HandleOnReader:
		p.handle(req)
		p.out.flush(false)
	default:
		p.in.add(p, req)
	}
}

// add passes a request of p to the runner.
func (in *inbox) add(p *Peer, req *Request) {
	in.mu.Lock()
	full := len(in.queue) >= p.out.opts.InboxMessages || in.bytes+req.size > p.out.opts.InboxBytes
	if !full {
		in.queue = append(in.queue, req)
		in.bytes += req.size
		in.startRunner(p)
	}
	in.mu.Unlock()
	if full {
		req.uncount()
		p.out.abort(ws.CodePolicy, "too many messages wait to be handled")
	}
}

// startRunner starts the runner if there is none. The caller holds the inbox's lock.
func (in *inbox) startRunner(p *Peer) {
	if !in.running {
		in.running = true
		p.wg.Add(1)
		go p.run()
	}
}

// end tells the runner to finish the peer once the queue is empty.
func (in *inbox) end(p *Peer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.startRunner(p)
}

// run is the runner. It handles the queue in order and ends when it is empty.
func (p *Peer) run() {
	defer p.wg.Done()
	var batch []*Request
	for {
		var last bool
		if batch, last = p.in.take(batch); last {
			p.finish()
			return
		}
		if len(batch) == 0 {
			return
		}
		for i, req := range batch {
			batch[i] = nil
			p.handle(req)
			waiting := p.in.handled(req.size)
			p.out.flush(i < len(batch)-1 || waiting)
		}
	}
}

// take returns the queue and leaves the slice empty in its place. last reports that
// nothing will ever be queued again.
func (in *inbox) take(empty []*Request) (batch []*Request, last bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	batch, in.queue = in.queue, nil
	if len(batch) > 0 {
		if cap(empty) <= keepFrames {
			in.queue = empty[:0]
		}
		return batch, false
	}
	in.running = in.ended // an ended inbox never gets another runner
	return nil, in.ended
}

// handled releases the bytes of a request, and reports whether more requests wait.
func (in *inbox) handled(size int) (waiting bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.bytes -= size
	return len(in.queue) > 0
}

// handle calls the handler with a request, and answers it if the handler did not.
func (p *Peer) handle(req *Request) {
	switch {
	case req.refusal != nil:
		req.Fail(req.refusal)
	case req.limited != nil && !req.Notification:
		req.Fail(req.limited)
	default:
		p.h.Handle(&p.ctx, req)
	}
	if !req.detached {
		req.ensureAnswered()
		req.uncount()
	}
}

// admit waits until the other side may continue: until it has read enough answers, and until
// the handler admits the message. Meanwhile nothing is read, so the other side waits too.
func (p *Peer) admit(req *Request) {
	if req.refusal == nil {
		p.out.awaitReplies(&p.ctx)
		if g, ok := p.h.(AdmitHandler); ok {
			req.limited = g.Admit(&p.ctx, req)
		}
	}
}

// bucket is a token bucket. Without a rate it never limits.
type bucket struct {
	used float64       // tokens that are not there
	last time.Duration // when they were counted, since started
}

// started is the time from which buckets count: a time.Duration is a third of a time.Time.
var started = time.Now()

// take takes a token, or reports false if there is none.
func (b *bucket) take(rate, burst float64) bool {
	if rate <= 0 {
		return true
	}
	now := time.Since(started)
	b.used = max(0, b.used-rate*max(0, now-b.last).Seconds())
	b.last = now
	if b.used > burst-1 {
		return false
	}
	b.used++
	return true
}
