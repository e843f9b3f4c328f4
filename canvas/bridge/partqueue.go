package bridge

import (
	"sync"
	"time"
)

// partQueue holds the messages of a page for the app that are not written yet. It holds at
// most one window of them.
type partQueue struct {
	wake chan struct{} // has an element if parts were added or the queue ended

	mu     sync.Mutex
	parts  []*socketMessage
	window int64 // cost that can still arrive
	seq    int64 // of the next part
	closed bool  // the page closed the WebSocket
	over   bool
}

// add appends a part, or the close after the last one.
func (q *partQueue) add(m *socketMessage) *Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case m.kind == socketClose && q.closed:
		return nil
	case m.kind == socketClose:
		q.closed = true
	case q.closed:
		return errLateSend
	case m.seq != q.seq:
		return errSendOrder
	case m.cost() > q.window:
		return errSendOverrun
	default:
		q.seq++
		q.window -= m.cost()
	}
	q.parts = append(q.parts, m)
	q.signal()
	return nil
}

func (q *partQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next waits for a part; nil means that the queue has ended.
func (q *partQueue) next() *socketMessage {
	for {
		q.mu.Lock()
		switch {
		case q.over:
			q.mu.Unlock()
			return nil
		case len(q.parts) > 0:
			m := q.parts[0]
			q.parts[0] = nil
			q.parts = q.parts[1:]
			q.mu.Unlock()
			return m
		}
		q.mu.Unlock()
		<-q.wake
	}
}

// give lets n more arrive. The page must learn it afterwards.
func (q *partQueue) give(n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.window += n
}

// end makes next return nil.
func (q *partQueue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.signal()
}

// ends waits for the end of the queue, and reports whether it came in time.
func (q *partQueue) ends(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		q.mu.Lock()
		over := q.over
		q.mu.Unlock()
		if over {
			return true
		}
		select {
		case <-q.wake:
		case <-timer.C:
			return false
		}
	}
}
