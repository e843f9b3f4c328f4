package channels

import (
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// ConnID identifies a connection during the lifetime of the process. 0 means no
// connection.
type ConnID uint64

// Sink receives a connection's frames. Its methods are called under the log's
// locks: they must return at once and must not call the log. A sink that is full
// closes its connection; it never drops a frame and continues. A frame for many
// subscribers might be delivered after the Update that published it has returned
// (see [Log.Flush]).
type Sink interface {
	// Deliver queues one frame.
	Deliver(*Frame)
	// DeliverAll queues several frames that many sinks share.
	DeliverAll(*Batch)
}

// Auditor is a Sink that learns what its connection dispatched.
type Auditor interface {
	// Audit is called for each action that the connection dispatched to a channel, with
	// the reason if it was refused. It is called under the log's lock and must return at
	// once.
	Audit(channel, action string, refused error)
}

// Ender is a Sink that learns which of its channels were removed.
type Ender interface {
	// Ended is called after a channel to which the connection was subscribed is removed.
	// It is called under the log's lock and must return at once.
	Ended(channel string)
}

// Meter is a Sink that learns what its connection's dispatches cost.
type Meter interface {
	// Dispatched is called without locks after a dispatch.
	Dispatched(Cost)
}

// Cost is what a dispatch cost.
type Cost struct {
	// Owner is the channel or, if another one owns it, the owner.
	Owner string
	// Deliveries is the number of deliveries to all subscribers, of 4 KiB each.
	Deliveries int
	// Checked is how long decoding and checking the action took.
	Checked time.Duration
	// Message reports that the action is a message, which changes no state.
	Message bool
}

// Subscriber is a connection as the log sees it. Its exported fields are set
// before it is first used and never change.
type Subscriber struct {
	// ID identifies the connection.
	ID ConnID
	// ClientID is the id of the connection's client. A client may have several
	// connections.
	ClientID string
	// Role is the role of the connection's token, "" if the program gave none.
	Role string
	// Rights are what the role permits. nil permits everything.
	Rights *access.Rights
	// Token identifies the connection's token (ws.Grant), "" if it has none.
	Token string
	// Version is the negotiated protocol version.
	Version ahp.Version
	// Caps are the capabilities that the connection declared.
	Caps ahp.Capabilities
	// Sink receives the connection's frames.
	Sink Sink
	// Account counts what the connection holds; nil counts nothing.
	Account *budget.Account

	// Name is what the person of the connection wants to be called, "" if there is none.
	// It is guarded by the log's mutex: read and set it in a View.
	Name string

	// Guarded by the log's mutex.
	subs subTable
	left Bookmark // the subscriptions that Leave ended; nil after a new one
}

type subscription struct {
	at      int   // the position among the channel's subscribers
	fromSeq int64 // of the snapshot with which it began
}

// sees reports whether the connection receives entries of a row: it declared the
// row's capability or, if the row has none, negotiated a version that has the row.
func (s *Subscriber) sees(row *ahp.ActionRow) bool {
	switch {
	case row == nil:
		return true // a refused action of an unknown type, for its sender
	case row.Capability != "":
		return s.Caps.Has(row.Capability)
	}
	return row.Since.Compare(s.Version) <= 0
}

// Audience restricts an entry to some subscribers of its channel. The zero value
// is all of them.
type Audience struct {
	// Conn is a connection that receives the entry.
	Conn ConnID
	// RetainFor is the client id for which an entry to Conn is retained for replay. If
	// it is "" and Clients is empty, the entry is not retained.
	RetainFor string
	// Clients are the client ids whose connections all receive the entry.
	Clients []string
}

// OnlyConn returns the audience of one connection. Its entries are not retained.
func OnlyConn(id ConnID) Audience { return Audience{Conn: id} }

// Sender returns the audience of a dispatching connection. Its entries are retained
// for the connection's client id.
func Sender(s *Subscriber) Audience { return Audience{Conn: s.ID, RetainFor: s.ClientID} }

// all reports whether the audience is every subscriber.
func (a *Audience) all() bool { return a.Conn == 0 && len(a.Clients) == 0 }

// includes reports whether a restricted audience includes the subscriber.
func (a *Audience) includes(s *Subscriber) bool {
	return (a.Conn != 0 && a.Conn == s.ID) || slices.Contains(a.Clients, s.ClientID)
}

// replayed reports whether a reconnecting client receives the entry.
func (a *Audience) replayed(clientID string) bool {
	return a.all() || (a.RetainFor != "" && a.RetainFor == clientID) || slices.Contains(a.Clients, clientID)
}

// retained reports whether any reconnecting client can receive the entry.
func (a *Audience) retained() bool {
	return a.all() || a.RetainFor != "" || len(a.Clients) > 0
}
