package extension

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// retry schedules reopening a canvas whose page server is unreachable while the
// process still runs.
type retry struct {
	backoff backoff.BackOff
	timer   *time.Timer
	last    time.Time // of the last attempt
}

// unreachable marks an instance stale whose page server refuses connections, and
// schedules a reopen: the extension might have moved the server.
func (w *worker) unreachable(i *instance) {
	r, id := w.ext.runner, i.target.InstanceID
	r.mu.Lock()
	current := w.open[id] == i
	if current {
		delete(w.open, id)
		w.lost[id] = i.handle
		r.running.Go(i.release) // asynchronously: release waits for the page, which waits for this call
	}
	r.mu.Unlock()
	if !current {
		return // the process is lost, or the instance is closed
	}
	i.handle.MarkStale()
	w.scheduleReopen(id)
}

// scheduleReopen schedules the next attempt to reopen an instance.
func (w *worker) scheduleReopen(id string) {
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

// reopen reopens an instance if it is still stale.
func (w *worker) reopen(id string) {
	w.staleHandles() // removes instances that were closed meanwhile
	r := w.ext.runner
	r.mu.Lock()
	h := w.lost[id]
	if h == nil {
		delete(w.retries, id)
		w.stopIfIdleLocked()
	}
	r.mu.Unlock()
	if h != nil {
		h.Reopen()
	}
}
