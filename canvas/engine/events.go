package engine

import (
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// events keeps the newest events of each session, in memory. Its mutex is a
// leaf: nothing is called while it is held.
type events struct {
	maxCount, maxBytes int
	now                func() time.Time

	mu    sync.Mutex
	rings map[string]*eventRing
}

type eventRing struct {
	first int64 // cursor before the oldest event
	list  []canvas.Event
	bytes int
	more  chan struct{} // closed when an event comes; nil while nobody waits
}

// begin makes room for a session's events. Without it there are none: what comes
// when a session is gone must not bring its ring back.
func (e *events) begin(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rings[session] = &eventRing{}
}

// add keeps an event, and reports whether its session is there.
func (e *events) add(k key, event ahp.Value) bool {
	at := e.now().UTC().Format(time.RFC3339Nano)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.rings[k.session]
	if r == nil {
		return false
	}
	r.list = append(r.list, canvas.Event{InstanceID: k.instance, Time: at, Event: event.Clone()})
	r.bytes += len(event) + letterCost
	for len(r.list) > e.maxCount || r.bytes > e.maxBytes {
		r.bytes -= len(r.list[0].Event) + letterCost
		r.list = r.list[1:]
		r.first++
	}
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	return true
}

// Raise tells a session's agent something that is of no canvas in particular: what
// an extension process says for itself. The event is any JSON, at most 64 KiB.
func (s *Engine) Raise(uri string, event ahp.Value) error {
	if err := s.limits.Message(event); err != nil {
		return err
	}
	if !s.events.add(key{session: uri}, event) {
		return sessionNotFound(uri)
	}
	return nil
}

// drop forgets a session.
func (e *events) drop(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.rings[session]; r != nil && r.more != nil {
		close(r.more)
	}
	delete(e.rings, session)
}

// after returns what came after a cursor, and a channel that is closed when more
// comes or the session goes; nil where it is not there.
func (e *events) after(session string, cursor int64) (canvas.EventPage, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.rings[session]
	if r == nil {
		return canvas.EventPage{}, nil
	}
	last := r.first + int64(len(r.list))
	if cursor < 0 || cursor > last {
		cursor = 0 // of a host that is no more: this one's events are all new
	}
	page := canvas.EventPage{Events: []canvas.Event{}, Next: last}
	if cursor < r.first {
		page.Dropped, cursor = r.first-cursor, r.first
	}
	page.Events = append(page.Events, r.list[cursor-r.first:]...)
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return page, r.more
}

// Events returns the events of a session after a cursor (0 is the beginning),
// and waits up to timeout for the first where there is none. They are in memory
// only: a crash loses them, and a cursor of before it means the beginning.
func (s *Engine) Events(ctx context.Context, uri string, after int64, timeout time.Duration) (canvas.EventPage, error) {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		page, more := s.events.after(uri, after)
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
		case <-s.tasks.ctx.Done():
			return page, nil
		case <-ctx.Done():
			return canvas.EventPage{}, ctx.Err()
		}
	}
}
