package web

import (
	"container/list"
	"runtime"
	"sync"
	"time"
)

// pace limits how many new connections are worked on at a time, so that those who come in
// a burst do not delay everyone who is connected: the others wait in the system's queue.
// The zero value is ready to use.
type pace struct {
	mu    sync.Mutex
	young list.List     // of *youngConn, the oldest first
	freed chan struct{} // one token: a place became free
}

// youngConn is a connection whose first request has not ended.
type youngConn struct {
	since time.Time
	at    *list.Element // nil once it is not young
}

const (
	// maxYoung is how many connections are young at a time, for each processor.
	maxYoung = 1
	// youth is how long a connection is young at most: one that sends nothing, or whose
	// request waits, holds up the others no longer.
	youth = 2 * time.Millisecond
)

// enter waits until one more connection can be worked on. It is called by one goroutine at
// a time, the accept loop.
func (p *pace) enter() *youngConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.freed == nil {
		p.freed = make(chan struct{}, 1)
	}
	for p.young.Len() >= maxYoung*runtime.GOMAXPROCS(0) {
		oldest := p.young.Front().Value.(*youngConn)
		left := youth - time.Since(oldest.since)
		if left <= 0 {
			p.remove(oldest)
			break
		}
		p.wait(left)
	}
	y := &youngConn{since: time.Now()}
	y.at = p.young.PushBack(y)
	return y
}

// wait waits until a place becomes free, at most for a time, without the lock.
func (p *pace) wait(most time.Duration) {
	p.mu.Unlock()
	defer p.mu.Lock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.freed:

	case <-timer.C:
	}
}

// leave says that a connection's first request has ended, or the connection.
func (p *pace) leave(y *youngConn) {
	if y == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(y)
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

func (p *pace) remove(y *youngConn) {
	if y.at != nil {
		p.young.Remove(y.at)
		y.at = nil
	}
}
