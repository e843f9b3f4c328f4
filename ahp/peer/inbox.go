package peer

import (
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// inbox is what was read and waits for the runner. The reader never waits: too
// much in it closes the connection.
type inbox struct {
	mu      sync.Mutex
	queue   []*Request
	bytes   int
	running bool
	ended   bool // the reader is gone; the runner finishes the peer
	rate    bucket
}

// arrived takes up a request, in order; it is called by the reader only. A
// message that could not be read travels the same way, so that its answer keeps
// its place. A flood closes the connection.
func (p *Peer) arrived(req *Request) {
	switch {
	case !p.in.rate.take():
		p.abort(ws.CodePolicy, "too many messages a second")
	case p.opts.Prompt:
		p.handle(req)
		p.flush(false)
	default:
		p.queue(req)
	}
}

// queue leaves a request to the runner.
func (p *Peer) queue(req *Request) {
	in := &p.in
	in.mu.Lock()
	full := len(in.queue) >= p.opts.InboxMessages || in.bytes+req.size > p.opts.InboxBytes
	if !full {
		in.queue = append(in.queue, req)
		in.bytes += req.size
		p.startRunner()
	}
	in.mu.Unlock()
	if full {
		p.abort(ws.CodePolicy, "too many messages wait to be handled")
	}
}

// startRunner is called under the inbox's lock.
func (p *Peer) startRunner() {
	if !p.in.running {
		p.in.running = true
		p.wg.Add(1)
		go p.run()
	}
}

// end lets the runner finish the peer once the queue is empty.
func (in *inbox) end(p *Peer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	p.startRunner()
}

// run handles what is queued, in order, and exists only while something is.
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
			p.flush(i < len(batch)-1 || waiting)
		}
	}
}

// take swaps the queue for the runner's empty one.
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
	in.running = in.ended // an ended inbox has its last runner
	return nil, in.ended
}

// handled reports whether more has arrived.
func (in *inbox) handled(size int) (waiting bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.bytes -= size
	return len(in.queue) > 0
}

// handle runs one request, and answers what the handler left unanswered.
func (p *Peer) handle(req *Request) {
	if req.refusal != nil {
		req.Fail(req.refusal)
		return
	}
	p.h.Handle(p.ctx, req)
	if !req.detached {
		req.settle()
	}
}

// bucket is a token bucket; one without a rate gives always.
type bucket struct {
	rate, burst, tokens float64
	last                time.Time
}

func newBucket(rate float64, burst int) bucket {
	return bucket{rate: rate, burst: float64(burst), tokens: float64(burst)}
}

func (b *bucket) take() bool {
	if b.rate <= 0 {
		return true
	}
	now := time.Now()
	if !b.last.IsZero() {
		b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds())
	}
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
