package client

import (
	"context"
	"iter"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of events.
const (
	// EventSnapshot: State is the channel's state as a whole, whatever was known
	// before. A watch begins with one for each channel that is followed; others
	// come with Subscribe, and with a Reconnect that could not replay.
	EventSnapshot EventKind = "snapshot"
	// EventAction: an action was applied; State is what it led to.
	EventAction EventKind = "action"
	// EventRefused: the host refused an action of this client id, for Reason. It
	// is told to watches because the dispatch may have been given up by then.
	EventRefused EventKind = "refused"
	// EventNotice: a notification that is no action, as root/sessionAdded; it
	// has no Seq and is never replayed. Type is its method, Raw its params.
	EventNotice EventKind = "notice"
	// EventGone: the channel is followed no longer. It was unsubscribed, or the
	// host did not have it any more when the client came back or asked again.
	EventGone EventKind = "gone"
)

// Event is one change of what the client knows of a channel.
type Event struct {
	Kind    EventKind
	Channel string
	Seq     int64       // serverSeq, or the snapshot's fromSeq
	Type    string      // "canvas/updated"
	Action  ahp.Action  // decoded; nil where the client does not know the type
	Raw     ahp.Value   // the action as it came
	Origin  *ahp.Origin // who dispatched it; nil is the host
	Reason  string      // of a refusal
	State   any         // the channel's state after this event; nil where it has none

	size int // of the JSON, for the bound of a watch
}

// Watch is a stream of events, in the order of the host. One goroutine at a
// time reads it; it must be closed.
type Watch struct {
	c        *Client
	channels map[string]bool // nil is all
	wake     chan struct{}   // holds one: there is something to look at

	// Guarded by the client's mutex.
	queue []Event
	bytes int
	err   error // the end, once the queue is empty
}

// eventSize is what an event counts for beside its JSON.
const eventSize = 256

// Watch begins to watch channels, or all of them where none is named. A channel
// need not be followed yet. The first events are snapshots of those that are,
// so that nothing can be missed between looking and watching.
func (c *Client) Watch(channels ...string) *Watch {
	w := &Watch{c: c, wake: make(chan struct{}, 1)}
	if len(channels) > 0 {
		w.channels = map[string]bool{}
	}
	for _, uri := range channels {
		w.channels[uri] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		w.end(ErrClosed)
		return w
	}
	c.watches[w] = struct{}{}
	for _, uri := range c.mirror.followed() {
		w.push(c.mirror.event(uri, c.mirror.channels[uri], 0))
	}
	return w
}

// Next returns the next event and waits for it until ctx is done. After the
// last one the error is [ErrOverflow] or [ErrClosed], always the same.
func (w *Watch) Next(ctx context.Context) (Event, error) {
	for {
		if ev, ok, err := w.pop(); ok || err != nil {
			return ev, err
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// All ranges over the events. The error is nil but for the last pair, which
// has no event and says why there are no more.
func (w *Watch) All(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			ev, err := w.Next(ctx)
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the watch; what it still held is dropped.
func (w *Watch) Close() {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.queue, w.bytes = nil, 0
	w.end(ErrClosed)
}

func (w *Watch) pop() (ev Event, ok bool, err error) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if len(w.queue) == 0 {
		w.queue = nil
		return ev, false, w.err
	}
	ev = w.queue[0]
	w.queue[0] = Event{}
	w.queue = w.queue[1:]
	w.bytes -= ev.size + eventSize
	return ev, true, nil
}

// push queues an event that the watch is about. It is called under the client's
// mutex, and so is end.
func (w *Watch) push(ev Event) {
	if w.channels != nil && !w.channels[ev.Channel] {
		return
	}
	size := ev.size + eventSize
	if w.bytes+size > w.c.opts.WatchBytes {
		w.end(ErrOverflow)
		return
	}
	w.queue, w.bytes = append(w.queue, ev), w.bytes+size
	w.signal()
}

func (w *Watch) end(err error) {
	delete(w.c.watches, w)
	if w.err == nil {
		w.err = err
	}
	w.signal()
}

func (w *Watch) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
