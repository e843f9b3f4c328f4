package channels

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Tx is a writing transaction: the log while Update holds its lock. It is valid
// only until the function that received it returns.
type Tx struct{ ReadTx }

// ErrExists is returned by Create for a URI that names a channel already.
var ErrExists = errors.New("channel exists")

// Create makes a channel subscribable. It takes no sequence number. parent is
// the channel that owns it, which is there already, or "".
func (tx *Tx) Create(uri, parent string, state State) error {
	kind := tx.l.Kind(uri)
	if kind == nil {
		return fmt.Errorf("channels: no kind for %q", ahp.SchemeOf(uri))
	}
	if tx.l.channels[uri] != nil {
		return ErrExists
	}
	owner := tx.l.channels[parent]
	if parent != "" && owner == nil {
		return fmt.Errorf("channels: %q, which is to own %q, is not there", parent, uri)
	}
	c := &channel{uri: uri, parent: parent, kind: kind}
	c.setState(state)
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

// disown puts the last one in the child's place.
func (c *channel) disown(child *channel) {
	n := len(c.owns) - 1
	last := c.owns[n]
	c.owns[child.at], last.at = last, child.at
	c.owns[n] = nil
	c.owns = c.owns[:n]
}

// Remove ends a channel, its subscriptions, and the channels that it owns. No
// envelope announces it: the protocol has none.
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
	}
	slices.SortFunc(c.owns, func(a, b *channel) int { return strings.Compare(a.uri, b.uri) })
	for _, child := range c.owns {
		tx.Remove(child.uri)
	}
	// Entries and bookmarks may hold the incarnation; they need not hold what it had.
	c.state, c.full, c.owns = nil, nil, nil
}

// Append applies a host action to a channel and publishes it to all its
// subscribers.
func (tx *Tx) Append(uri string, a ahp.Action) error { return tx.AppendTo(uri, a, Audience{}) }

// AppendTo is Append for an audience.
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

// publish is the one step: reduce, number, keep, deliver, and what follows
// from it in other channels.
func (tx *Tx) publish(c *channel, enc *ahp.EncodedAction, origin *ahp.Origin, to Audience) error {
	before := c.state
	after, outcome, err := c.kind.Reduce(before, enc.Action)
	if err != nil {
		return err
	}
	if outcome == Applied {
		c.setState(after)
	}
	tx.l.seq++
	e := newEntry(tx.l.seq, c.uri, enc, origin, "", to)
	e.of = c
	tx.keep(e)
	tx.deliver(c, e)
	if c.kind.After != nil {
		c.kind.After(tx, c.uri, before, c.state, enc.Action)
	}
	return nil
}

// deliver hands an entry to those of the channel's subscribers who hear it: at
// once where they are few, and where they are many with what follows it shortly.
func (tx *Tx) deliver(c *channel, e *Entry) {
	everybody := e.Audience.everybody()
	if everybody && len(c.subs.all) >= many {
		tx.l.fanout.add(c, e)
		return
	}
	tx.l.fanout.settle()
	if everybody {
		for _, s := range c.subs.all {
			if s.sees(e.row) {
				s.Sink.Deliver(e.frame)
			}
		}
		return
	}
	for s := range c.subs.named(&e.Audience) {
		if s.sees(e.row) {
			s.Sink.Deliver(e.frame)
		}
	}
}

func (tx *Tx) keep(e *Entry) {
	switch {
	case !e.Audience.retained():
	case e.row != nil && e.row.Retain == ahp.RetainMessage:
		tx.l.messages.add(e)
	default:
		tx.l.states.add(e)
	}
}

// Notify sends a notification that is not an action (root/sessionAdded and its
// kin) to the channel's subscribers. It takes no number and is never replayed.
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
	tx.l.fanout.settle()
	for _, s := range c.subs.all {
		s.Sink.Deliver(frame)
	}
}

// Later runs fn after the lock, in the order of the log. fn must not wait.
func (tx *Tx) Later(fn func()) { tx.l.effects = append(tx.l.effects, fn) }
