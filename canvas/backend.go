package canvas

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Backend is the side that a [Handle] works on: the engine of a host, or a client.
// A Backend that is also a [Keeper] supports all of a Handle's methods.
type Backend interface {
	// Context is done when the handle ends.
	Context() context.Context
	// Update changes what people see of the instance.
	Update(ctx context.Context, u Update) error
	// Post sends a message to Views.
	Post(ctx context.Context, p Post) error
}

// Keeper is what a Backend inside a host supports in addition.
type Keeper interface {
	// Save keeps data of the provider; see [Handle.Save].
	Save(ctx context.Context, data []byte) error
	// Raise adds an event for the agent; see [Handle.Raise].
	Raise(event ahp.Value) error
	// SetReachable marks the instance stale or opens it again; see [Handle.MarkStale]
	// and [Handle.Reopen].
	SetReachable(reachable bool)
}

// RecordKeeper is a Backend that has a store for records of the provider; see
// [Handle.Records].
type RecordKeeper interface {
	// Records returns the records of the handle's extension.
	Records() Records
}

// Withdrawer is a Backend whose events can be withdrawn; see [Handle.WithdrawEvents].
type Withdrawer interface {
	// WithdrawEvents withdraws the instance's earlier events.
	WithdrawEvents() error
}

// PrivateRaiser is a Backend with events for one agent; see [Handle.RaiseFor].
type PrivateRaiser interface {
	// RaiseFor adds an event for one agent.
	RaiseFor(agent string, event ahp.Value) error
}

// Noter is a Backend with a history for people; see [Handle.Note].
type Noter interface {
	// Note adds an entry.
	Note(who Actor, what string) error
}

// Announcer is a Backend that shows people what an instance needs and does; see
// [Handle.Attention] and [Handle.Progress].
type Announcer interface {
	// Announce sets a member of the state's _meta for the provider; nil removes it.
	Announce(name string, value any) error
}

// Post is a message of a provider to its Views.
type Post struct {
	// To is the View that receives it; the zero View stands for all.
	To View
	// Payload is any JSON, at most 64 KiB.
	Payload ahp.Value
	// Encoded says that a trusted encoder wrote the payload, so that it is valid and
	// compact: it is bounded in size and not looked at again.
	Encoded bool
}
