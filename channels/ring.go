package channels

import (
	"sort"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// ring holds the newest entries, limited in number and bytes. It records the last
// dropped entry of each channel, so that Resume knows whether a replay is complete.
type ring struct {
	maxEntries, maxBytes int

	entries []*Entry // ascending by Seq
	bytes   int
	memory  *budget.Ledger
}

func (r *ring) add(e *Entry) {
	r.entries = append(r.entries, e)
	before := r.bytes
	r.bytes += e.size()
	for len(r.entries) > r.maxEntries || r.bytes > r.maxBytes {
		old := r.entries[0]
		r.entries[0] = nil // the array still refers to it until append reallocates
		r.entries = r.entries[1:]
		r.bytes -= old.size()
		if old.of != nil {
			old.of.lost = max(old.of.lost, old.Seq)
		}
	}
	r.memory.Add(budget.Replay, int64(r.bytes-before))
}

// after returns the entries with sequence numbers above seq.
func (r *ring) after(seq int64) []*Entry {
	i := sort.Search(len(r.entries), func(i int) bool { return r.entries[i].Seq > seq })
	return r.entries[i:]
}

// merge merges two ascending lists.
func merge(a, b []*Entry) []*Entry {
	out := make([]*Entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Seq < b[0].Seq {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
