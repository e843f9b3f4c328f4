package channels

import (
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// fanout hands entries to the many listeners of a channel, all that wait together.
// A goroutine comes for the first of them; what is published until it is there
// travels along, so that a burst costs each connection a look and not one for each
// action. Who is to see things in their order settles first: before another
// channel's entries, what only some hear, a change of the listeners, and a
// connection's own frames.
type fanout struct {
	waiting atomic.Bool // something does; set and cleared under mu

	mu      sync.Mutex // below the log's; sinks are called under it
	of      *channel   // whose entries they are
	entries []*Entry
	bytes   int
	coming  bool // the goroutine
}

// batchBytes bounds what waits: a connection can write that much at once.
const batchBytes = 60 << 10

// add takes an entry that all listeners of a channel hear. It is called with the
// log locked.
func (f *fanout) add(c *channel, e *Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of != c || f.bytes+e.frame.Size() > batchBytes {
		f.handOver()
	}
	f.of = c
	f.entries = append(f.entries, e)
	f.bytes += e.frame.Size()
	f.waiting.Store(true)
	if !f.coming {
		f.coming = true
		go f.come()
	}
}

func (f *fanout) come() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.coming = false
	f.handOver()
}

// settle hands over what waits. It may be called with the log locked or not.
func (f *fanout) settle() {
	if !f.waiting.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handOver()
}

// handOver is called under mu. The listeners do not change: who changes them has
// settled before, with the log locked, so that nothing waits.
func (f *fanout) handOver() {
	if f.of == nil {
		return
	}
	all := newBatch(f.entries, f.bytes)
	for _, s := range f.of.subs.all {
		if s.seesAll(all.rows) {
			s.Sink.DeliverAll(all)
		} else {
			s.deliverSeen(f.entries)
		}
	}
	clear(f.entries)
	f.entries, f.bytes, f.of = f.entries[:0], 0, nil
	f.waiting.Store(false)
}

func (s *Subscriber) seesAll(rows []*ahp.ActionRow) bool {
	for _, row := range rows {
		if !s.sees(row) {
			return false
		}
	}
	return true
}

// deliverSeen is for who does not hear all of them.
func (s *Subscriber) deliverSeen(entries []*Entry) {
	for _, e := range entries {
		if s.sees(e.row) {
			s.Sink.Deliver(e.frame)
		}
	}
}
