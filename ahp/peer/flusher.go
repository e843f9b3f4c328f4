package peer

import (
	"runtime"
	"sync"
)

// flushers write for all connections of the process that have something queued
// and a socket that can be tried: a goroutine for each, started for every burst,
// cost more than the writes. There are at most as many as processors, they never
// wait for a socket, and they exist only while a connection is queued. A
// connection is in the queue once, in the order of its first frame; its Wait waits
// for its turn.
var flushers flusherPool

var maxFlushers = runtime.GOMAXPROCS(0)

type flusherPool struct {
	mu      sync.Mutex // a leaf
	queue   []*Peer
	first   int // of the queue
	running int
}

func (f *flusherPool) add(p *Peer) {
	f.mu.Lock()
	if len(f.queue) == cap(f.queue) && f.first > len(f.queue)/2 {
		f.queue, f.first = append(f.queue[:0], f.queue[f.first:]...), 0
	}
	f.queue = append(f.queue, p)
	begin := f.running < maxFlushers
	if begin {
		f.running++
	}
	f.mu.Unlock()
	if begin {
		go f.run()
	}
}

func (f *flusherPool) run() {
	for p := f.next(); p != nil; p = f.next() {
		p.tryWrite()
	}
}

// next returns nil when nothing is queued, which ends a flusher.
func (f *flusherPool) next() *Peer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == len(f.queue) {
		f.queue, f.first = f.queue[:0], 0
		if cap(f.queue) > keepPeers {
			f.queue = nil
		}
		f.running--
		return nil
	}
	p := f.queue[f.first]
	f.queue[f.first] = nil
	f.first++
	return p
}

const keepPeers = 4096 // a queue of more is not kept for reuse
