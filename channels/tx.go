package channels

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Tx is a writing transaction: the log while Update holds its lock. It is valid
// only until the function that received it returns.
type Tx struct {
	ReadTx
	deliveries int    // of the dispatch in progress; a long entry counts as several
	refusal    []byte // of the dispatch in progress: its entry as beginRefusal returns it
}

// ErrExists is returned by Create if the channel exists.
var ErrExists = errors.New("channel exists")

// Create creates a channel. It uses no sequence number. parent is the URI of the
// existing channel that owns the new one, or "".
func (tx *Tx) Create(uri, parent string, state State) error {
	kind := tx.l.Kind(uri)
	if kind == nil {
		return fmt.Errorf("channels: no kind has the scheme of %q", uri)
	}
	if tx.l.channels[uri] != nil {
		return ErrExists
	}
	owner := tx.l.channels[parent]
	if parent != "" && owner == nil {
		return fmt.Errorf("channels: the parent %q of %q does not exist", parent, uri)
	}
	c := &channel{uri: uri, parent: parent, kind: kind}
	c.setState(state, tx.l.memory)
	tx.l.channels[uri] = c
	if owner != nil {
		owner.own(c)
	}
	return nil
}

func (c *channel) own(child *channel) {
	child.at = len(c.owns)
	c.owns = append(c.owns, child)
}

// disown removes a child. The last child takes its position.
func (c *channel) disown(child *channel) {
	n := len(c.owns) - 1
	last := c.owns[n]
	c.owns[child.at], last.at = last, child.at
	c.owns[n] = nil
	c.owns = c.owns[:n]
}

// Remove removes a channel, its subscriptions, and the channels that it owns.
// Clients are not notified: the protocol has no envelope for it. A Sink can be an [Ender].
func (tx *Tx) Remove(uri string) {
	c := tx.l.channels[uri]
	if c == nil {
		return
	}
	delete(tx.l.channels, uri)
	if owner := tx.l.channels[c.parent]; owner != nil {
		owner.disown(c)
	}
	for _, s := range slices.Clone(c.subs.all) {
		tx.end(s, c)
		if e, ok := s.Sink.(Ender); ok {
			e.Ended(uri)
		}
	}
	slices.SortFunc(c.owns, func(a, b *channel) int { return strings.Compare(a.uri, b.uri) })
	for _, child := range c.owns {
		tx.Remove(child.uri)
	}
	// Entries and bookmarks still refer to the channel; free the rest.
	c.state, c.full, c.owns = nil, nil, nil
}

// Append applies an action of the host to a channel and publishes it to all
// subscribers.
func (tx *Tx) Append(uri string, a ahp.Action) error { return tx.AppendTo(uri, a, Audience{}) }

// AppendTo is like Append, but publishes to an audience.
func (tx *Tx) AppendTo(uri string, a ahp.Action, to Audience) error {
	c := tx.l.channels[uri]
	if c == nil {
		return tx.l.Kind(uri).notFound()
	}
	enc, err := c.kind.Actions.Encode(a)
	if err != nil {
		return err
	}
	return tx.publish(c, &enc, nil, to)
}

// publish reduces an action, assigns its sequence number, retains and delivers the
// entry, and calls the kind's After. Connections in also receive the entry too, if they
// are not subscribed; nil is none.
func (tx *Tx) publish(c *channel, enc *ahp.EncodedAction, origin *ahp.Origin, to Audience, also ...*Subscriber) error {
	before := c.state
	after, outcome, err := c.kind.Reduce(before, enc.Action)
	if err != nil {
		return err
	}
	if outcome == Applied {
		c.setState(after, tx.l.memory)
	}
	e := newEntry(tx.number(c.kind), c.uri, enc, origin, "", to)
	e.of = c
	e.frame.Init(tx.l.memory, budget.Queues, int64(e.frame.Size()))
	if !c.kind.Unnumbered {
		tx.retain(e)
	}
	tx.deliver(c, e)
	tx.deliverUnsubscribed(c, e, also)
	if c.kind.After != nil {
		c.kind.After(tx, c.uri, before, c.state, enc.Action)
	}
	return nil
}

// number returns the sequence number of the next entry of a kind.
func (tx *Tx) number(kind *Kind) int64 {
	if kind == nil || !kind.Unnumbered {
		tx.l.seq++
	}
	return tx.l.seq
}

// deliveryBytes is how many bytes of a delivery count as one.
const deliveryBytes = 4 << 10

// deliver delivers an entry to its audience: at once, or in a batch if it is for
// all of many subscribers.
func (tx *Tx) deliver(c *channel, e *Entry) {
	all := e.Audience.all()
	if all {
		tx.deliveries += len(c.subs.all) * (1 + e.frame.Size()/deliveryBytes)
	}
	if all && len(c.subs.all) >= many {
		tx.l.fanout.add(c, e)
		return
	}
	tx.l.fanout.flush()
	if all {
		for _, s := range c.subs.all {
			if s.sees(e.row) {
				s.Sink.Deliver(e.frame)
			}
		}
		return
	}
	for s := range c.subs.in(&e.Audience) {
		if s.sees(e.row) {
			s.Sink.Deliver(e.frame)
		}
	}
}

// deliverUnsubscribed delivers an entry to connections that are not subscribed.
func (tx *Tx) deliverUnsubscribed(c *channel, e *Entry, to []*Subscriber) {
	for n, s := range to {
		if s == nil || slices.Contains(to[:n], s) || !s.sees(e.row) {
			continue
		}
		if _, subscribed := s.subs.get(c); !subscribed {
			tx.l.fanout.flush()
			s.Sink.Deliver(e.frame)
		}
	}
}

// retain adds an entry to the replay buffer of its type.
func (tx *Tx) retain(e *Entry) {
	switch {
	case !e.Audience.retained():
	case e.row != nil && e.row.Retain == ahp.RetainMessage:
		tx.l.messages.add(e)
	default:
		tx.l.states.add(e)
	}
}

// Notify sends a notification that is not an action, such as root/sessionAdded, to
// the channel's subscribers. It uses no sequence number and is never replayed.
func (tx *Tx) Notify(uri, method string, params any) {
	c := tx.l.channels[uri]
	if c == nil || len(c.subs.all) == 0 {
		return
	}
	frame := NewFrame(ahp.MustMarshal(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params}))
	frame.Init(tx.l.memory, budget.Queues, int64(frame.Size()))
	tx.l.fanout.flush()
	for _, s := range c.subs.all {
		s.Sink.Deliver(frame)
	}
	tx.deliveries += len(c.subs.all) * (1 + frame.Size()/deliveryBytes)
}

// Later makes fn an effect: it runs after the lock is released, in the order of the
// log, one effect at a time. fn must not block.
func (tx *Tx) Later(fn func()) { tx.l.effects = append(tx.l.effects, fn) }
