package channels

import (
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
)

// encodedState encodes one state. While a snapshot waits to be sent, it is encoded at most
// once per variant; afterwards only short encodings are kept.
type encodedState struct {
	state          State
	kind           *Kind
	memory         *budget.Ledger
	full, redacted encodedVariant
}

type encodedVariant struct {
	encoding sync.Mutex // held while the state is encoded, before mu

	mu      sync.Mutex // taken under the log's lock, so never held for long
	bytes   ahp.Value
	holders int
	counted int64
}

// keepEncoded is the length up to which an encoding is kept for later snapshots.
const keepEncoded = 16 << 10

func (e *encodedState) variant(redact bool) *encodedVariant {
	if redact {
		return &e.redacted
	}
	return &e.full
}

func (e *encodedState) encode(redact bool) ahp.Value {
	v := e.variant(redact)
	v.encoding.Lock()
	defer v.encoding.Unlock()
	if b := v.encoded(); b != nil {
		return b
	}
	var b ahp.Value
	heavy.Do(int(e.size()), func() {
		state := e.state
		if redact {
			state = e.kind.Redact(state)
		}
		b = ahp.MustMarshal(state)
	})
	v.keep(b)
	return b
}

func (v *encodedVariant) encoded() ahp.Value {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bytes
}

// keep keeps an encoding that others wait for, or a short one.
func (v *encodedVariant) keep(b ahp.Value) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.holders > 0 || len(b) <= keepEncoded {
		v.bytes = b
	}
}

func (c *channel) setState(s State, memory *budget.Ledger) {
	c.state = s
	c.full = &encodedState{state: s, kind: c.kind, memory: memory}
}

// size estimates the length of the encoded state, and so what the state itself takes.
func (e *encodedState) size() int64 {
	if e.kind.Size == nil {
		return 1 << 10
	}
	return int64(e.kind.Size(e.state))
}

// hold counts a snapshot that waits to be sent: the state and its encoding, once for all
// that wait.
func (e *encodedState) hold(redact bool) (size int64) {
	v := e.variant(redact)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.holders == 0 {
		v.counted = 2 * e.size()
		e.memory.Add(budget.Replies, v.counted)
	}
	v.holders++
	return v.counted
}

func (e *encodedState) release(redact bool) {
	v := e.variant(redact)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.holders--; v.holders > 0 {
		return
	}
	e.memory.Add(budget.Replies, -v.counted)
	if len(v.bytes) > keepEncoded {
		v.bytes = nil
	}
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
	counted int64 // while it is held
}

// Hold counts the snapshot in an account until Release: it waits to be sent.
func (s *Snapshot) Hold(a *budget.Account) {
	s.counted = s.of.hold(s.redact)
	a.Share(s.counted)
}

// Release ends a Hold of the same account.
func (s *Snapshot) Release(a *budget.Account) {
	a.Share(-s.counted)
	s.of.release(s.redact)
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
	if kind == nil || !s.Caps.Has(kind.Capability) {
		return nil, kind.notFound()
	}
	c := tx.l.channels[uri]
	if c == nil && kind.Make != nil {
		if parent, first, ok := kind.Make(&tx.ReadTx, uri); ok && tx.Create(uri, parent, first) == nil {
			c = tx.l.channels[uri]
		}
	}
	if c == nil {
		return nil, kind.notFound()
	}
	sub, again := s.subs.get(c)
	if !again {
		tx.l.fanout.flush()
		sub.at = c.subs.add(s)
	}
	s.left = nil
	sub.fromSeq = tx.l.seq
	s.subs.set(c, sub)
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

// Leave ends all subscriptions of a connection and returns what they were; a second
// Leave returns the same. It needs no sequence number.
func (l *Log) Leave(s *Subscriber) (mark Bookmark) {
	l.unsubscribing(func(tx *Tx) {
		if mark = s.left; mark != nil {
			return
		}
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
	for c, sub := range s.subs.all() {
		mark[c.uri] = position{of: c, fromSeq: sub.fromSeq}
	}
	return mark
}

// end ends the subscription of s to c.
func (tx *Tx) end(s *Subscriber, c *channel) {
	tx.remove(s, c)
	if c.kind.Left != nil {
		tx.Later(func() { c.kind.Left(s, c.uri) })
	}
}

// TakeOver gives the place of a connection to a new one of its client, which has no
// subscriptions yet: its id, so that entries for it reach the new one. The subscriptions of the
// old one end, and it gets nothing more; only those that keep does not name are reported by
// Kind.Left. The new one must Resume with the returned bookmark in the same transaction.
func (tx *Tx) TakeOver(to, from *Subscriber, keep []string) (mark Bookmark) {
	if mark = from.left; mark == nil {
		mark = from.bookmark()
		for _, uri := range mark.URIs() {
			if slices.Contains(keep, uri) {
				tx.remove(from, mark[uri].of)
			} else {
				tx.end(from, mark[uri].of)
			}
		}
		from.left = mark
	}
	to.ID = from.ID
	return mark
}

// remove is end without its report.
func (tx *Tx) remove(s *Subscriber, c *channel) {
	tx.l.fanout.flush()
	ended, _ := s.subs.get(c)
	if moved := c.subs.remove(ended.at); moved != nil {
		sub, _ := moved.subs.get(c)
		sub.at = ended.at
		moved.subs.set(c, sub)
	}
	s.subs.remove(c)
}
