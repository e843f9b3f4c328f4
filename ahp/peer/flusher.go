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
	queue   []*outbox  // the one that waits longest is first
	running int
}

// add queues a connection. The caller has its writer role.
func (f *flusherPool) add(o *outbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, o)
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

// next takes a connection from the queue. It returns nil if there is none, and
// the calling flusher ends.
func (f *flusherPool) next() *outbox {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		f.running--
		f.queue = nil
		return nil
	}
	o := f.queue[0]
	f.queue[0] = nil
	f.queue = f.queue[1:]
	return o
}
