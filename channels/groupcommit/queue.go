package groupcommit

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Queue holds the callers that wait to lead a group or to be taken into one. The
// zero value is an empty queue.
type Queue[T any] struct {
	mu      sync.Mutex
	busy    bool // a caller leads
	waiting []*Waiter[T]
}

// Waiter is one caller in a queue. It is used for one Join.
type Waiter[T any] struct {
	// Value is what the caller wants done.
	Value T

	result chan Result // buffered; nil if the caller did not have to wait
	leads  bool        // the caller leads. Guarded by the queue's mutex
}

// Result says how a Join ended.
type Result uint8

const (
	// Lead makes the caller the leader: it takes a group, which begins with
	// itself, does the group's work, passes the lead on, and finishes the other
	// waiters of the group.
	Lead Result = iota + 1
	// Canceled says that the caller's context or stop channel ended first.
	Canceled
	// Done and the values above it come from [Waiter.Finish]. The package does
	// not interpret them.
	Done
)

// Join waits until w leads (Lead), another leader has finished it (Done or
// above), or ctx or stop ends before either (Canceled). stop may be nil.
func (q *Queue[T]) Join(ctx context.Context, stop <-chan struct{}, w *Waiter[T]) Result {
	if q.enter(w) {
		return Lead
	}
	select {
	case r := <-w.result:
		return r
	case <-ctx.Done():
	case <-stop:
	}
	if q.leave(w) {
		return Canceled
	}
	return <-w.result
}

// enter appends w to the queue, and reports whether it leads.
func (q *Queue[T]) enter(w *Waiter[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, w)
	if q.busy {
		w.result = make(chan Result, 1)
		return false
	}
	q.busy = true
	return true
}

// leave removes w from the queue, unless it leads or was taken into a group.
func (q *Queue[T]) leave(w *Waiter[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, w)
	if at < 0 || w.leads {
		return false
	}
	q.waiting = slices.Delete(q.waiting, at, at+1)
	return true
}

// Len returns the number of callers in the queue. It includes the leader until
// that has taken its group.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Take removes the leader from the queue, and the waiters after it for as long
// as fits returns true. fits is called once for each waiter, in order.
func (q *Queue[T]) Take(fits func(T) bool) []*Waiter[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 1
	for n < len(q.waiting) && fits(q.waiting[n].Value) {
		n++
	}
	group := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group
}

// Pass makes the first waiter the leader, and yields the processor to it: all
// other callers wait for the leader, and it would otherwise run only once the
// calling goroutine blocks. The leader calls Pass once, after Take.
func (q *Queue[T]) Pass() {
	if q.next() {
		runtime.Gosched()
	}
}

func (q *Queue[T]) next() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy = len(q.waiting) > 0; q.busy {
		q.waiting[0].leads = true
		q.waiting[0].result <- Lead
	}
	return q.busy
}

// Finish ends the Join of a waiter that a leader took into its group. For the
// leader itself it does nothing.
func (w *Waiter[T]) Finish(r Result) {
	if w.result != nil && !w.leads {
		w.result <- r
	}
}
