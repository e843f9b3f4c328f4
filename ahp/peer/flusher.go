package peer

import (
	"runtime"
	"sync"
)

// flushers writes for all connections of the process that have queued frames and
// a socket that takes bytes without waiting (ws.Conn.CanTry).
//
// A goroutine for each connection and burst, which this replaces, takes 1.2 times
// the CPU for each delivery (fan-out to 1,000 connections) and a stack for each
// connection. A channel of connections would block the sender, which might hold
// locks.
var flushers flusherPool

// maxFlushers is how many connections are written to at once. A flusher never
// waits for a socket, so more than one for each processor gains nothing.
var maxFlushers = runtime.GOMAXPROCS(0)

// flusherPool runs goroutines that exist only while a connection is queued. A
// connection is in the queue at most once, because it is queued by the holder of
// its writer role. Peer.Wait waits until the role has ended.
type flusherPool struct {
	mu      sync.Mutex // a leaf
	short   flushQueue // connections that have little to write
	long    flushQueue // the others, so that they do not delay many short writes
	turns   int        // how many short ones were taken since a long one
	running int
}

// flushQueue are connections; the one that waits longest is first.
type flushQueue []*outbox

const (
	// shortQueue is up to how many bytes a connection is in the short queue.
	shortQueue = 8 << 10
	// shortTurns is how many short ones are taken while a long one waits.
	shortTurns = 16
)

// add queues a connection. The caller has its writer role.
func (f *flusherPool) add(o *outbox) {
	short := o.waiting() <= shortQueue
	f.mu.Lock()
	defer f.mu.Unlock()
	if short {
		f.short = append(f.short, o)
	} else {
		f.long = append(f.long, o)
	}
	if f.running < maxFlushers {
		f.running++
		go f.run()
	}
}

// run writes for one connection after the other.
func (f *flusherPool) run() {
	for o := f.next(); o != nil; o = f.next() {
		o.tryWrite()
	}
}

// next takes a connection from a queue. It returns nil if there is none, and the calling
// flusher ends.
func (f *flusherPool) next() *outbox {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.long) > 0 && (len(f.short) == 0 || f.turns >= shortTurns):
		f.turns = 0
		return f.long.take()
	case len(f.short) > 0:
		f.turns++
		return f.short.take()
	}
	f.running--
	return nil
}

// take takes the first connection.
func (q *flushQueue) take() *outbox {
	o := (*q)[0]
	(*q)[0] = nil
	if *q = (*q)[1:]; len(*q) == 0 {
		*q = nil
	}
	return o
}
