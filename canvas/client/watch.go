package client

import (
	"context"
	"iter"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events.
const (
	// EventSnapshot replaces the channel's state by State. A watch begins with one
	// for each followed channel. Others follow a Subscribe, and a Reconnect that
	// could not replay.
	EventSnapshot EventKind = "snapshot"
	// EventAction reports an action; State is the state after it.
	EventAction EventKind = "action"
	// EventRefused reports that the host refused an action of this client id, for
	// Reason. Watches receive it because the dispatch may have timed out before.
	EventRefused EventKind = "refused"
	// EventNotice reports a notification that is no action, for example
	// root/sessionAdded. Type is its method, Raw its params. It has no Seq and is
	// never replayed.
	EventNotice EventKind = "notice"
	// EventGone reports that the client no longer follows the channel: it was
	// unsubscribed, or the host did not have it at a resume or Subscribe.
	EventGone EventKind = "gone"
)

// Event is one change of a channel, or a notification.
type Event struct {
	// Kind says which of the other fields are set.
	Kind EventKind
	// Channel is the channel's URI.
	Channel string
	// Seq is the action's serverSeq, or the snapshot's fromSeq.
	Seq int64
	// Type is the action's type, for example "canvas/updated".
	Type string
	// Action is the decoded action; nil if the client does not know the type.
	Action ahp.Action
	// Raw is the action as the host sent it.
	Raw ahp.Value
	// Origin is the client that dispatched the action; nil is the host.
	Origin *ahp.Origin
	// Reason is the host's reason for a refusal.
	Reason string
	// State is the channel's state after this event; nil if it has none.
	State any

	size int // of the JSON, for the limit of a watch
}

// Watch is a queue of events, in the host's order. One goroutine at a time may read
// it; it must be closed.
type Watch struct {
	set      *watches
	channels map[string]bool // nil is all
	wake     chan struct{}   // buffers one signal that the queue or err has changed

	// Guarded by the client's mutex.
	queue []Event
	bytes int
	err   error // returned once the queue is empty
}

// eventSize is what an event counts in addition to its JSON.
const eventSize = 256

// Watch returns a watch of channels, or of all channels if none is named. A channel
// need not be followed yet. The first events are snapshots of the followed channels,
// so the watch misses nothing.
func (c *Client) Watch(channels ...string) *Watch {
	w := &Watch{set: &c.feed.watches, wake: make(chan struct{}, 1)}
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
	c.feed.watches.open[w] = struct{}{}
	m := &c.feed.mirror
	for _, uri := range m.followed() {
		w.push(m.event(uri, m.channels[uri], 0))
	}
	return w
}

// Next waits for the next event until ctx is done. After the last one it always
// returns the same error: [ErrOverflow], [ErrClosed] or a [*GivenUp].
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

// All ranges over the events. Only the last pair has an error, that of Next, and no
// event.
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

// Close ends the watch and drops the events in its queue.
func (w *Watch) Close() {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	w.queue, w.bytes = nil, 0
	w.end(ErrClosed)
}

func (w *Watch) pop() (ev Event, ok bool, err error) {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
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

// push queues an event if the watch has its channel. It is called under the
// client's mutex, and so is end.
func (w *Watch) push(ev Event) {
	if w.channels != nil && !w.channels[ev.Channel] {
		return
	}
	size := ev.size + eventSize
	if w.bytes+size > w.set.limit {
		w.end(ErrOverflow)
		return
	}
	w.queue, w.bytes = append(w.queue, ev), w.bytes+size
	w.signal()
}

func (w *Watch) end(err error) {
	delete(w.set.open, w)
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

// watches are the open watches of a client. Its methods are called under the
// client's mutex.
type watches struct {
	mu    *sync.Mutex // the client's
	limit int         // of each queue, in bytes
	open  map[*Watch]struct{}
}

func newWatches(mu *sync.Mutex, limit int) watches {
	return watches{mu: mu, limit: limit, open: map[*Watch]struct{}{}}
}

// push adds an event to the watches of its channel.
func (s *watches) push(ev Event) {
	for w := range s.open {
		w.push(ev)
	}
}

// endAll ends every watch with an error.
func (s *watches) endAll(err error) {
	for w := range s.open {
		w.end(err)
	}
}
