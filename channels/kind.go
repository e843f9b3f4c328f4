package channels

import "github.com/ahp-canvas/ahp-canvas/ahp"

// State is a channel's state: an immutable value that encodes to JSON. A nil
// State is a stateless channel, which is subscribed without a snapshot.
type State any

// Outcome is what a reducer did with an action that it did not refuse.
type Outcome uint8

const (
	// Applied: the returned state replaces the channel's. It is the zero value.
	Applied Outcome = iota
	// Signal: broadcast, the state stays the same.
	Signal
)

// Kind describes one kind of channel as data and pure functions. A new kind is
// a new folder and one row where the log is made; neither the log nor the
// server is edited. Nil functions have the default that their comment names.
type Kind struct {
	// Scheme is what stands before the colon of the kind's URIs.
	Scheme string
	// Actions are the action types of the kind.
	Actions *ahp.ActionTable
	// Capability gates the whole kind: to a connection without it such a
	// channel does not exist. "" gates nothing.
	Capability string
	// NotFound is answered where a URI of the kind names no channel; nil is
	// ahp.ErrNotFound.
	NotFound *ahp.Error

	// Reduce is pure: it never changes its input and depends on nothing else.
	// An error refuses the action with its text.
	Reduce func(State, ahp.Action) (State, Outcome, error)

	// Check holds a client's action against what needs no state, before the lock
	// is taken: it may be costly. An error refuses with its text.
	Check func(from *Subscriber, a ahp.Action) error

	// Permit decides on a client's dispatch before it is reduced: may this
	// connection send this action here, and who hears it (d.Audience). It runs
	// under the lock; an error refuses with its text. Nil permits.
	Permit func(tx *ReadTx, d *Dispatch) error

	// After runs under the lock when an action of this kind was reduced, and
	// may append to other channels: a mirrored field follows in the same
	// transaction.
	After func(tx *Tx, uri string, before, after State, a ahp.Action)

	// Redact returns what a connection without RedactCapability sees of a
	// state. Its encoding is cached beside the full one.
	Redact           func(State) State
	RedactCapability string

	// Effect runs after the lock, in the order of the log, for a client's
	// dispatch that was accepted. It must not wait.
	Effect func(d Dispatch)

	// Absent decides on a dispatch to a URI of this scheme that names no
	// channel: an error refuses to the sender, nil ignores in silence (the
	// default).
	Absent func(a ahp.Action) error

	// Left runs like Effect when a connection's subscription to a channel of
	// this kind ended: unsubscribe, disconnect, or the channel's removal.
	Left func(s *Subscriber, uri string)
}

// Dispatch is a client's action on its way through Permit, Reduce and Effect.
type Dispatch struct {
	From    *Subscriber
	Channel string
	Origin  ahp.Origin
	Action  ahp.Action
	// Audience is who hears the echo; the zero value is all subscribers. The
	// sender must be in it.
	Audience Audience

	replaced bool
}

// Replace makes Permit's a the action that is applied and echoed instead of
// what came in: for an older spelling that only its sender completes.
func (d *Dispatch) Replace(a ahp.Action) { d.Action, d.replaced = a, true }

func (k *Kind) notFound() *ahp.Error {
	if k == nil || k.NotFound == nil {
		return ahp.ErrNotFound
	}
	return k.NotFound
}
