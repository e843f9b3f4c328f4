package channels

import "github.com/ahp-canvas/ahp-canvas/ahp"

// State is a channel's state: an immutable value that encodes to JSON. A channel
// whose State is nil is stateless; a subscription to it has no snapshot.
type State any

// Outcome says what a reducer did with an action that it accepted.
type Outcome uint8

const (
	// Applied means that the returned state replaces the channel's state.
	Applied Outcome = iota
	// Signal means that the action is published and the state does not change.
	Signal
)

// Kind describes one kind of channel as data and functions. A new kind is added
// with Log.AddKind; neither the log nor the server changes. Each function may be
// nil unless its comment says otherwise.
type Kind struct {
	// Scheme is the URI scheme of the kind's channels.
	Scheme string
	// Actions are the action types of the kind.
	Actions *ahp.ActionTable
	// Capability is what a connection must declare to see the kind's channels. To
	// other connections they do not exist. "" means that every connection sees them.
	Capability string
	// Unnumbered entries have the sequence number of the entry before them instead of a
	// new one, and are not retained: a Resume never replays them. It is for channels that
	// only some clients know, whose numbers a translator makes (package server): other
	// clients see no gaps.
	Unnumbered bool
	// NotFound is the error for a URI of the kind that names no channel. The default
	// is ahp.ErrNotFound.
	NotFound *ahp.Error

	// Make returns the parent and the first state of a channel that is made when it is
	// first subscribed to, and whether uri is one. It is called under the lock and must be
	// fast. nil makes none. The channel is not made if its parent does not exist.
	Make func(tx *ReadTx, uri string) (parent string, first State, ok bool)

	// Reduce returns the state after an action. It must be pure. An error refuses
	// the action with the error's text. Reduce must not be nil.
	Reduce func(State, ahp.Action) (State, Outcome, error)

	// Check validates a client's action as far as it needs no state. It is called
	// without the lock, so it may be slow. An error refuses the action with the
	// error's text.
	Check func(from *Subscriber, a ahp.Action) error

	// Clean returns a client's action with its texts bounded, and whether that changed it.
	// Then the action that is published is encoded again. It is called without the lock,
	// before Check.
	Clean func(a ahp.Action) (ahp.Action, bool)

	// Permit decides whether a client may dispatch an action to a channel, and who
	// receives it (d.Audience). It is called under the lock, before Reduce. An error
	// refuses the action with the error's text. If Permit is nil, every dispatch is
	// permitted.
	Permit func(tx *ReadTx, d *Dispatch) error

	// PermitUnsubscribed decides whether a connection may dispatch to a channel to which
	// it is not subscribed. It is called under the lock, before Permit. If it is nil, no
	// connection may.
	PermitUnsubscribed func(tx *ReadTx, from *Subscriber, uri string) bool

	// After is called under the lock when an action of the kind has been reduced. It
	// may append to other channels, in the same transaction.
	After func(tx *Tx, uri string, before, after State, a ahp.Action)

	// Redact returns the part of a state that a connection without RedactCapability
	// may see. Its encoding is cached like that of the whole state.
	Redact func(State) State
	// RedactCapability is the capability with which a connection sees whole states.
	RedactCapability string

	// Size estimates how many bytes a state takes when it is encoded. It is called
	// without the lock or under it. If it is nil, the kind's states are short.
	Size func(State) int

	// Effect is called for each client dispatch that was accepted: after the lock is
	// released, in the order of the log. It must not block.
	Effect func(d Dispatch)

	// Absent decides on a dispatch to a URI of this scheme that names no channel. An
	// error refuses the action to its sender; without one the action is ignored.
	Absent func(a ahp.Action) error

	// Left is called like Effect when a connection's subscription to a channel of the
	// kind has ended, because the connection unsubscribed or closed or the channel
	// was removed.
	Left func(s *Subscriber, uri string)
}

// Dispatch is a client's action while Permit and Effect handle it.
type Dispatch struct {
	// From is the connection that dispatched the action.
	From *Subscriber
	// Channel is the URI of the action's channel.
	Channel string
	// Origin identifies the dispatch for its client.
	Origin ahp.Origin
	// Action is the decoded action.
	Action ahp.Action
	// Audience says which subscribers receive the action; the zero value is all of
	// them. It must include the sender.
	Audience Audience
	// Also is a connection that receives the action, although it is not subscribed. It
	// is not in the audience: the action is not replayed for it.
	Also *Subscriber

	replaced bool
}

// Replace makes a the action that is applied and published. Permit calls it for an
// older spelling that only the sender's identity completes.
func (d *Dispatch) Replace(a ahp.Action) { d.Action, d.replaced = a, true }

func (k *Kind) notFound() *ahp.Error {
	if k == nil || k.NotFound == nil {
		return ahp.ErrNotFound
	}
	return k.NotFound
}
