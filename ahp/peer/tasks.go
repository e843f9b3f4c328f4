package peer

import (
	"errors"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

var errUnanswered = errors.New("the handler gave no answer")

// taskQueue runs a limited number of functions at once, and a smaller number of those
// that have the same owner, so that slow ones delay only their owner. The others
// wait in their order. The bytes of their requests are limited, too.
type taskQueue struct {
	mu      sync.Mutex
	running int32
	bytes   int32            // of the requests that run or wait
	owners  map[string]int32 // running tasks by owner; nil if there are none
	waiting []task
}

// task is a function with the size of its request.
type task struct {
	run   func()
	drop  func() // called instead of run if the connection ends before
	size  int
	owner string
	limit int // of running tasks with this owner
}

// mayRun reports whether a task's owner is below its limit.
func (q *taskQueue) mayRun(t task) bool { return int(q.owners[t.owner]) < t.limit }

// started counts a task that runs.
func (q *taskQueue) started(t task) {
	if q.owners == nil {
		q.owners = map[string]int32{}
	}
	q.owners[t.owner]++
}

// ended counts a task that has run.
func (q *taskQueue) ended(t task) {
	q.bytes -= int32(t.size)
	if q.owners[t.owner]--; q.owners[t.owner] == 0 {
		delete(q.owners, t.owner)
	}
}

// launch runs a task of p, now or later. After the connection's end it drops t.
func (q *taskQueue) launch(p *Peer, limit int, t task) {
	q.mu.Lock()
	full := int(q.bytes)+t.size > p.out.opts.InboxBytes
	switch {
	case p.ctx.Err() != nil, full:
		t.drop()
	case int(q.running) < limit && q.mayRun(t):
		q.running++
		q.bytes += int32(t.size)
		q.started(t)
		p.wg.Add(1)
		go q.run(p, t)
	case len(q.waiting) < p.out.opts.TaskQueue:
		q.bytes += int32(t.size)
		q.waiting = append(q.waiting, t)
	default:
		full = true
		t.drop()
	}
	q.mu.Unlock()
	if full {
		p.out.abort(ws.CodePolicy, "too many requests wait for an answer")
	}
}

// run runs t, and then waiting tasks until there are none.
func (q *taskQueue) run(p *Peer, t task) {
	defer p.wg.Done()
	for more := true; more; {
		t.run()
		t, more = q.next(t)
	}
}

// next returns the task that waits longest and may run after done has ended.
func (q *taskQueue) next(done task) (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended(done)
	i := slices.IndexFunc(q.waiting, q.mayRun)
	if i < 0 {
		if q.running--; q.running == 0 {
			q.waiting, q.owners = nil, nil
		}
		return task{}, false
	}
	t = q.waiting[i]
	if i == 0 {
		q.waiting[0] = task{}
		q.waiting = q.waiting[1:]
	} else {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.started(t)
	return t, true
}

// stop drops the waiting tasks. Running ones see that the peer's context has ended.
func (q *taskQueue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.waiting {
		t.drop()
	}
	q.waiting = nil
}

// slot is a place among the functions of GoContent. It is free once every hold has
// been released.
type slot struct{ wg sync.WaitGroup }

// hold adds a hold and returns the function that releases it. A nil slot has no
// holds.
func (s *slot) hold() (release func()) {
	if s == nil {
		return func() {}
	}
	s.wg.Add(1)
	return s.wg.Done
}

func (s *slot) wait() { s.wg.Wait() }
