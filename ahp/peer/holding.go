package peer

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Held is memory that an answer or a frame keeps until it has been written or dropped,
// and that others might hold too.
type Held interface {
	// Hold counts the memory for the connection. It is called under a leaf lock.
	Hold(*budget.Account)
	// Release ends a Hold.
	Release(*budget.Account)
}

// countFrom is how many bytes a queue has before its frames are counted in the budget.
// A connection that keeps up never has so many, so counting costs it nothing.
const countFrom = 64 << 10

// holding is what a queue holds according to the budget. Frames are numbered in the order
// of the queue. The outbox's lock guards it, except wrote.
type holding struct {
	account *budget.Account // nil if nothing is counted
	queued  int             // number of the frame that was queued last
	done    int             // number of the last frame that has been written
	wrote   int             // frames that have been written but are not in done; belongs to the writer role
	frames  *[]heldFrame    // in order; nil unless the queue is long
}

// heldFrame is a frame that counts, or several in a row that only this connection holds.
type heldFrame struct {
	number int // of the last frame
	shared Held
	own    int // bytes, if shared is nil
}

// add counts a frame of size bytes that is being queued. waiting is the size of the queue
// with it.
func (h *holding) add(f Frame, size, waiting int) {
	h.queued++
	e, answer := f.(exempt)
	if h.account == nil || waiting <= countFrom && len(e.held) == 0 {
		return
	}
	if answer {
		for _, one := range e.held {
			h.hold(one)
		}
		return
	}
	if framed, ok := f.(framedShared); ok {
		if one, ok := framed.Shared.(Held); ok {
			h.hold(one)
			return
		}
	} else if one, ok := f.(Held); ok {
		h.hold(one)
		return
	}
	h.account.Add(budget.Queues, int64(size))
	if h.frames != nil {
		if last := &(*h.frames)[len(*h.frames)-1]; last.shared == nil {
			last.number = h.queued
			last.own += size
			return
		}
	}
	h.append(heldFrame{number: h.queued, own: size})
}

func (h *holding) append(f heldFrame) {
	if h.frames == nil {
		h.frames = &[]heldFrame{f}
		return
	}
	*h.frames = append(*h.frames, f)
}

func (h *holding) hold(one Held) {
	one.Hold(h.account)
	h.append(heldFrame{number: h.queued, shared: one})
}

// release gives back the frames that have been written. The caller has the writer role.
func (h *holding) release() {
	h.done += h.wrote
	h.wrote = 0
	if h.frames == nil {
		return
	}
	all := *h.frames
	for len(all) > 0 && all[0].number <= h.done {
		all[0].release(h.account)
		all = all[1:]
	}
	if *h.frames = all; len(all) == 0 {
		h.frames = nil
	}
}

// drop gives everything back.
func (h *holding) drop() {
	if h.frames == nil {
		return
	}
	for _, f := range *h.frames {
		f.release(h.account)
	}
	h.frames = nil
}

func (f *heldFrame) release(a *budget.Account) {
	if f.shared != nil {
		f.shared.Release(a)
		return
	}
	a.Give(budget.Queues, int64(f.own))
}

// replies counts the answers to initialize, reconnect and subscribe in a queue. They are
// outside its limit on bytes, so the reader waits while there are many.
type replies struct {
	queued int32         // and not yet written
	wrote  int32         // written but still in queued; belongs to the writer role
	fewer  chan struct{} // closed when queued shrinks; nil if no goroutine waits
}

// shrink lowers the count by those that were written, which needs the writer role, or
// to 0.
func (r *replies) shrink(all bool) {
	n := r.queued
	if !all {
		n, r.wrote = r.wrote, 0
	}
	r.queued -= n
	if n > 0 && r.fewer != nil {
		close(r.fewer)
		r.fewer = nil
	}
}

// awaitReplies waits until fewer than Options.Replies answers of that kind are queued, or
// the outbox drops frames. Only the reader calls it.
func (o *outbox) awaitReplies(ctx context.Context) {
	for {
		o.mu.Lock()
		if int(o.replies.queued) < o.opts.Replies || o.stopped {
			o.mu.Unlock()
			return
		}
		if o.replies.fewer == nil {
			o.replies.fewer = make(chan struct{})
		}
		fewer := o.replies.fewer
		o.mu.Unlock()
		select {
		case <-fewer:
		case <-ctx.Done():
			return
		}
	}
}
