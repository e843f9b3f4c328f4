package engine

import (
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// events keeps the newest events of each session in memory. Nothing is called while
// its mutex is held.
type events struct {
	maxCount, maxBytes int
	now                func() time.Time
	memory             *budget.Ledger

	mu    sync.Mutex
	rings map[string]*eventRing
}

type eventRing struct {
	first  int64 // cursor before the oldest event
	list   []event
	bytes  int
	opened int64         // cursor of the last open by an agent
	more   chan struct{} // closed when an event comes; nil unless a caller waits
}

// event is an event with its readers: all agents if to is nil, otherwise the one whose
// token has this name.
type event struct {
	canvas.Event
	to *string
}

func (r *eventRing) last() int64 { return r.first + int64(len(r.list)) }

// eventOverhead is what an event counts in addition to its JSON, in bytes.
const eventOverhead = 256

// leastEvents is what a session keeps, in bytes, even while the events of all sessions take
// their whole share of the host's memory: a session that floods displaces its own.
const leastEvents = 128 << 10

// count counts n bytes of a session's events; n may be negative.
func (e *events) count(r *eventRing, n int) {
	r.bytes += n
	e.memory.Add(budget.Events, int64(n))
}

// begin starts a session's events. Without it there are none: an event that comes after
// the session's end must not start them again.
func (e *events) begin(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old := e.rings[session]; old != nil {
		e.count(old, -old.bytes)
	}
	e.rings[session] = &eventRing{}
}

// add adds an event. It returns false if the session does not exist.
func (e *events) add(k key, v ahp.Value, to *string) bool {
	at := e.now().UTC().Format(time.RFC3339Nano)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.rings[k.session]
	if r == nil {
		return false
	}
	r.list = append(r.list, event{canvas.Event{InstanceID: k.instance, Time: at, Event: v.Clone(), Cursor: r.last() + 1}, to})
	e.count(r, len(v)+eventOverhead)
	for len(r.list) > e.maxCount || r.bytes > e.maxBytes || r.bytes > leastEvents && !e.memory.Fits(budget.Events, 0) {
		e.count(r, -len(r.list[0].Event.Event)-eventOverhead)
		r.list[0] = event{}
		r.list = r.list[1:]
		r.first++
	}
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	return true
}

// withdraw takes an instance's events out of the list. Their cursors stay.
func (e *events) withdraw(k key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.rings[k.session]
	if r == nil {
		return
	}
	for n, ev := range r.list {
		if ev.InstanceID == k.instance && ev.Event.Event != nil {
			e.count(r, -len(ev.Event.Event))
			r.list[n].Event.Event = nil
		}
	}
}

// opened records that an agent opened a canvas, and returns the cursor of that moment.
func (e *events) opened(session string) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.rings[session]
	if r == nil {
		return 0
	}
	r.opened = r.last()
	return r.opened
}

// Raise adds an event that belongs to no canvas in particular, such as an extension
// process's own. The event is any JSON, at most 64 KiB.
func (e *Engine) Raise(uri string, event ahp.Value) error {
	if err := e.limits.Message(event); err != nil {
		return err
	}
	if !e.events.add(key{session: uri}, event, nil) {
		return sessionNotFound(uri)
	}
	return nil
}

// drop removes a session's events.
func (e *events) drop(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.rings[session]; r != nil {
		e.count(r, -r.bytes)
		if r.more != nil {
			close(r.more)
		}
	}
	delete(e.rings, session)
}

// after returns a caller's events after a cursor, and a channel that is closed when more come
// or the session ends. The channel is nil if there is no such session.
func (e *events) after(session string, cursor int64, caller string) (canvas.EventPage, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.rings[session]
	if r == nil {
		return canvas.EventPage{}, nil
	}
	last := r.last()
	if cursor == canvas.SinceOpen {
		cursor = r.opened
	}
	if cursor < 0 || cursor > last {
		cursor = 0 // from an earlier run of the host: all events are new
	}
	page := canvas.EventPage{Events: []canvas.Event{}, Next: last}
	if cursor < r.first {
		page.Dropped, cursor = r.first-cursor, r.first
	}
	for _, ev := range r.list[cursor-r.first:] {
		if ev.Event.Event != nil && (ev.to == nil || *ev.to == caller) { // not withdrawn, and not another agent's
			page.Events = append(page.Events, ev.Event)
		}
	}
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return page, r.more
}

// Events returns the events of a session after a cursor, without those for other agents
// than the caller; 0 is the beginning, and
// [canvas.SinceOpen] the last open by an agent. If there are
// none, it waits up to timeout for the first. Events are in memory only: a restart loses
// them, and a cursor from before it means the beginning.
func (e *Engine) Events(ctx context.Context, uri string, after int64, timeout time.Duration) (canvas.EventPage, error) {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		page, more := e.events.after(uri, after, canvas.Caller(ctx))
		if more == nil {
			return canvas.EventPage{}, sessionNotFound(uri)
		}
		if len(page.Events) > 0 || page.Dropped > 0 || timeout <= 0 {
			return page, nil
		}
		select {
		case <-more:
		case <-deadline.C:
			return page, nil
		case <-e.tasks.ctx.Done():
			return page, nil
		case <-ctx.Done():
			return canvas.EventPage{}, ctx.Err()
		}
	}
}
