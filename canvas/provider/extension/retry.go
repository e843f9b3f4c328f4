package extension

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// retry is how a canvas is opened again whose page's server was lost while the
// process lives.
type retry struct {
	backoff backoff.BackOff
	timer   *time.Timer
	last    time.Time
}

// unreachable makes an instance stale whose page's server refuses connections,
// and opens it again a little later: the extension may have moved it.
func (w *worker) unreachable(i *instance) {
	r, id := w.ext.runner, i.target.InstanceID
	r.mu.Lock()
	current := w.open[id] == i
	if current {
		delete(w.open, id)
		w.lost[id] = i.handle
		r.running.Go(i.leave) // not here: the page waits for this call
	}
	r.mu.Unlock()
	if !current {
		return // its process is lost, or it is closed
	}
	i.handle.MarkStale()
	w.again(id)
}

// again sets the time of the next attempt.
func (w *worker) again(id string) {
	r := w.ext.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	next := w.retries[id]
	if next == nil {
		next = &retry{backoff: r.opts.Backoff()}
		next.backoff.Reset()
		w.retries[id] = next
	}
	if time.Since(next.last) > r.opts.Steady {
		next.backoff.Reset()
	}
	next.last = time.Now()
	wait := next.backoff.NextBackOff()
	if wait == backoff.Stop || r.closed {
		return
	}
	next.timer = time.AfterFunc(wait, func() { w.reopen(id) })
}

// reopen opens an instance again, if it is still stale.
func (w *worker) reopen(id string) {
	w.stale() // forgets what was closed meanwhile
	r := w.ext.runner
	r.mu.Lock()
	h := w.lost[id]
	if h == nil {
		delete(w.retries, id)
		w.rest()
	}
	r.mu.Unlock()
	if h != nil {
		h.Reopen()
	}
}
