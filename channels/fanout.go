package channels

import (
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// fanout delivers the entries of a channel with many subscribers in batches. The
// first entry starts a goroutine that delivers it together with all entries that
// are published until the goroutine runs. In a burst, each connection is thus
// visited once for a batch instead of once for an entry.
//
// To keep every connection's frames in order, the pending batch is flushed before
// anything that must come after it: entries of another channel, entries for a
// restricted audience, a change of the subscribers, and a connection's own frames.
type fanout struct {
	pending atomic.Bool // entries is not empty; written under mu

	mu        sync.Mutex // taken after the log's mutex; sinks are called under it
	of        *channel   // the channel of entries
	entries   []*Entry
	bytes     int
	scheduled bool // a goroutine is about to deliver
	memory    *budget.Ledger
}

// batchBytes limits a batch to what a connection writes at once.
const batchBytes = 60 << 10

// add queues an entry for all subscribers of a channel. It is called with the log
// locked.
func (f *fanout) add(c *channel, e *Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of != c || f.bytes+e.frame.Size() > batchBytes {
		f.deliver()
	}
	f.of = c
	f.entries = append(f.entries, e)
	f.bytes += e.frame.Size()
	f.pending.Store(true)
	if !f.scheduled {
		f.scheduled = true
		go f.run()
	}
}

func (f *fanout) run() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scheduled = false
	f.deliver()
}

// flush delivers the pending batch. It may be called with the log locked or
// unlocked.
func (f *fanout) flush() {
	if !f.pending.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deliver()
}

// deliver is called under mu. It may read the channel's subscribers without the
// log's mutex: they change only after a flush, with the log locked.
func (f *fanout) deliver() {
	if f.of == nil {
		return
	}
	batch := newBatch(f.memory, f.entries, f.bytes)
	for _, s := range f.of.subs.all {
		if s.seesAll(batch.rows) {
			s.Sink.DeliverAll(batch)
		} else {
			s.deliverSeen(f.entries)
		}
	}
	clear(f.entries)
	f.entries, f.bytes, f.of = f.entries[:0], 0, nil
	f.pending.Store(false)
}

func (s *Subscriber) seesAll(rows []*ahp.ActionRow) bool {
	for _, row := range rows {
		if !s.sees(row) {
			return false
		}
	}
	return true
}

// deliverSeen delivers only the entries that the subscriber may see.
func (s *Subscriber) deliverSeen(entries []*Entry) {
	for _, e := range entries {
		if s.sees(e.row) {
			s.Sink.Deliver(e.frame)
		}
	}
}
