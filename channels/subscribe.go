package channels

import (
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// encodedState encodes one state, at most once per variant.
type encodedState struct {
	state          State
	kind           *Kind
	full, redacted encodedVariant
}

type encodedVariant struct {
	once  sync.Once
	bytes ahp.Value
}

func (e *encodedState) encode(redact bool) ahp.Value {
	v := &e.full
	if redact {
		v = &e.redacted
	}
	v.once.Do(func() {
		state := e.state
		if redact {
			state = e.kind.Redact(state)
		}
		v.bytes = ahp.MustMarshal(state)
	})
	return v.bytes
}

func (c *channel) setState(s State) {
	c.state = s
	c.full = &encodedState{state: s, kind: c.kind}
}

// Snapshot is a channel's state at a sequence number. [Snapshot.Encode] encodes it
// outside the lock.
type Snapshot struct {
	// Resource is the URI of the channel.
	Resource string
	// FromSeq is the sequence number of the newest entry that the state reflects.
	FromSeq int64
	of      *encodedState
	redact  bool
}

// Encode returns the wire form of the snapshot.
func (s *Snapshot) Encode() ahp.Snapshot {
	return ahp.Snapshot{Resource: s.Resource, State: s.of.encode(s.redact), FromSeq: s.FromSeq}
}

// Subscribe subscribes a connection to a channel and returns a snapshot of it, nil
// for a stateless channel. The answer with the snapshot must be queued before the
// transaction ends, so that no envelope comes before it. Subscribing again returns
// a new snapshot.
func (tx *Tx) Subscribe(s *Subscriber, uri string) (*Snapshot, error) {
	kind := tx.l.Kind(uri)
	c := tx.l.channels[uri]
	if c == nil || !s.Caps.Has(kind.Capability) {
		return nil, kind.notFound()
	}
	sub, again := s.subs[c]
	if !again {
		tx.l.fanout.flush()
		sub.at = c.subs.add(s)
	}
	if s.subs == nil {
		s.subs = map[*channel]subscription{}
	}
	s.left = nil
	sub.fromSeq = tx.l.seq
	s.subs[c] = sub
	if c.state == nil {
		return nil, nil
	}
	return tx.snapshot(s, c), nil
}

func (tx *Tx) snapshot(s *Subscriber, c *channel) *Snapshot {
	redact := c.kind.Redact != nil && !s.Caps.Has(c.kind.RedactCapability)
	return &Snapshot{Resource: c.uri, FromSeq: tx.l.seq, of: c.full, redact: redact}
}

// Unsubscribe ends a subscription, and reports whether it was the last that the
// connection's client had to the channel. It needs no sequence number.
func (l *Log) Unsubscribe(s *Subscriber, uri string) (last bool) {
	l.unsubscribing(func(tx *Tx) {
		if tx.Subscribed(s, uri) {
			tx.end(s, l.channels[uri])
			last = !tx.ClientSubscribed(s.ClientID, uri)
		}
	})
	return last
}

// Leave ends all subscriptions of a connection and returns what they were. It
// needs no sequence number.
func (l *Log) Leave(s *Subscriber) (mark Bookmark) {
	l.unsubscribing(func(tx *Tx) {
		mark = s.bookmark()
		for _, uri := range mark.URIs() {
			tx.end(s, mark[uri].of)
		}
		s.left = mark
	})
	return mark
}

// unsubscribing runs fn under the lock, and then the effects of the
// subscriptions that it ended.
func (l *Log) unsubscribing(fn func(*Tx)) {
	effects, _ := l.locked(func(tx *Tx) error { fn(tx); return nil })
	if effects {
		l.runEffects()
	}
}

func (s *Subscriber) bookmark() Bookmark {
	mark := Bookmark{}
	for c, sub := range s.subs {
		mark[c.uri] = position{of: c, fromSeq: sub.fromSeq}
	}
	return mark
}

// end ends the subscription of s to c.
func (tx *Tx) end(s *Subscriber, c *channel) {
	tx.l.fanout.flush()
	at := s.subs[c].at
	if moved := c.subs.remove(at); moved != nil {
		sub := moved.subs[c]
		sub.at = at
		moved.subs[c] = sub
	}
	delete(s.subs, c)
	if c.kind.Left != nil {
		tx.Later(func() { c.kind.Left(s, c.uri) })
	}
}
