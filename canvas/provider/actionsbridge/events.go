package actionsbridge

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// EventKind is what an Event reports.
type EventKind int

// The kinds of events.
const (
	Connected     EventKind = iota // a runtime that is let in has connected
	Pending                        // a runtime waits for a person, or was refused
	Changed                        // a runtime's state or what it says about itself has changed
	Gone                           // a runtime has disconnected
	Signaled                       // a declared event of a page
	EventsDropped                  // a page sent events that were not passed on
	Called                         // a call has ended
)

// Event is what [Bridge.Watch] reports.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Runtime is the runtime, as it was then; after Gone, as it was before.
	Runtime Runtime
	// Item is the dom_event of Signaled, with the declared name; its payload is data of the
	// page.
	Item Item
	// Count is how many events EventsDropped reports.
	Count int
	// Report is the call of Called.
	Report CallReport
}

// CallReport is a call that has ended.
type CallReport struct {
	ID        string        // of the call
	Name      string        // of the action
	Arguments ahp.Value     // of the caller
	Code      string        // of the error; "" is a value
	Elapsed   time.Duration // until the outcome
}

// Watch calls fn for each event, until stop is called. Events come one at a time, in order.
// fn must not block, and must not call methods that change the Bridge; it may look at it.
// stop does not wait for a call of fn that runs.
func (b *Bridge) Watch(fn func(Event)) (stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := b.watches
	b.watches++
	b.watchers[id] = fn
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, id)
	}
}

// report queues an event. The caller holds b.mu, and flushes without it.
func (b *Bridge) report(e Event) {
	if len(b.watchers) > 0 {
		b.events = append(b.events, e)
	}
}

// flush reports the queued events. When it returns, those that were queued before it have
// been reported, by it or by another goroutine.
func (b *Bridge) flush() {
	b.reporting.Lock()
	defer b.reporting.Unlock()
	for {
		b.mu.Lock()
		if len(b.events) == 0 {
			b.events = nil
			b.mu.Unlock()
			return
		}
		e := b.events[0]
		b.events = b.events[1:]
		fns := make([]func(Event), 0, len(b.watchers))
		for _, fn := range b.watchers {
			fns = append(fns, fn)
		}
		b.mu.Unlock()
		for _, fn := range fns {
			fn(e)
		}
	}
}
