package peer

import (
	"errors"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

var errUnanswered = errors.New("the handler gave no answer")

// lane runs functions on goroutines of their own, a bounded number at once and
// the others in order.
type lane struct {
	mu      sync.Mutex
	running int32
	stopped bool
	waiting []func()
}

// launch runs fn in the lane, now or later; after the end not at all.
func (p *Peer) launch(l *lane, limit int, fn func()) {
	l.mu.Lock()
	full := false
	switch {
	case l.stopped:
	case int(l.running) < limit:
		l.running++
		p.wg.Add(1)
		go p.runLane(l, fn)
	case len(l.waiting) < p.opts.TaskQueue:
		l.waiting = append(l.waiting, fn)
	default:
		full = true
	}
	l.mu.Unlock()
	if full {
		p.abort(ws.CodePolicy, "too many requests wait for an answer")
	}
}

func (p *Peer) runLane(l *lane, fn func()) {
	defer p.wg.Done()
	for fn != nil {
		fn()
		fn = l.next()
	}
}

func (l *lane) next() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.running--
		l.waiting = nil
		return nil
	}
	fn := l.waiting[0]
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	return fn
}

// stop forgets what waits; what runs sees its context end.
func (l *lane) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped, l.waiting = true, nil
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
