package peer

import (
	"errors"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

var errUnanswered = errors.New("the handler gave no answer")

// lane runs functions on goroutines of their own, a bounded number at once and
// the others in order. What they hold of messages is bounded too: a function that
// waits keeps its request.
type lane struct {
	mu      sync.Mutex
	running int32
	bytes   int32 // of the requests that run or wait
	waiting []task
}

// task is a function with the size of the request that it keeps.
type task struct {
	run  func()
	size int
}

// launch runs t in the lane, now or later; after the end not at all.
func (p *Peer) launch(l *lane, limit int, t task) {
	l.mu.Lock()
	full := int(l.bytes)+t.size > p.opts.InboxBytes
	switch {
	case p.ctx.Err() != nil, full:
	case int(l.running) < limit:
		l.running++
		l.bytes += int32(t.size)
		p.wg.Add(1)
		go p.runLane(l, t)
	case len(l.waiting) < p.opts.TaskQueue:
		l.bytes += int32(t.size)
		l.waiting = append(l.waiting, t)
	default:
		full = true
	}
	l.mu.Unlock()
	if full {
		p.abort(ws.CodePolicy, "too many requests wait for an answer")
	}
}

func (p *Peer) runLane(l *lane, t task) {
	defer p.wg.Done()
	for more := true; more; {
		t.run()
		t, more = l.next(t.size)
	}
}

// next returns the task that waits longest; freed is what the last one held.
func (l *lane) next(freed int) (t task, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes -= int32(freed)
	if len(l.waiting) == 0 {
		l.running--
		l.waiting = nil
		return task{}, false
	}
	t = l.waiting[0]
	l.waiting[0] = task{}
	l.waiting = l.waiting[1:]
	return t, true
}

// stop forgets what waits, when the peer's context has ended; what runs sees that.
func (l *lane) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = nil
}

// slot is a place in the content lane: it is free when all its holds are.
type slot struct{ wg sync.WaitGroup }

// hold returns its release. A nil slot is one that nobody counts.
func (s *slot) hold() (release func()) {
	if s == nil {
		return func() {}
	}
	s.wg.Add(1)
	return s.wg.Done
}

func (s *slot) wait() { s.wg.Wait() }
