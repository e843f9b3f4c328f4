package channels

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// ConnID names a connection for the life of the process; 0 is none.
type ConnID uint64

// Sink takes a connection's frames. It is called under the log's locks: it must
// return at once and must not call the log. A sink that is full closes its
// connection with a typed reason; it never drops a frame and goes on. What many
// hear may come after the Update that published it has returned (see [Log.Settle]).
type Sink interface {
	Deliver(*Frame)
	// DeliverAll takes several frames, which go to many sinks.
	DeliverAll(*Batch)
}

// Subscriber is a connection as the log sees it. Its exported fields are set
// before it is first used and never change.
type Subscriber struct {
	ID       ConnID
	ClientID string
	Version  ahp.Version
	Caps     ahp.Capabilities
	Sink     Sink

	// subs maps a channel to this connection's place in it. Guarded by the
	// log's mutex.
	subs map[*channel]subscription
	left Bookmark // what Leave ended, until a new subscription. Guarded likewise
}

type subscription struct {
	at      int   // its place among the channel's listeners
	fromSeq int64 // of the snapshot that opened it
}

// sees reports whether the gate lets entries of a row through: the capability
// where the row has one, the version otherwise.
func (s *Subscriber) sees(row *ahp.ActionRow) bool {
	switch {
	case row == nil:
		return true // a refusal of what nobody knows, back to its sender
	case row.Capability != "":
		return s.Caps.Has(row.Capability)
	}
	return row.Since.Compare(s.Version) <= 0
}

// Audience is who hears an entry, among the subscribers of its channel. The
// zero value is all of them.
type Audience struct {
	// Conn is a connection that hears it.
	Conn ConnID
	// Keeper is the client id for which an entry to Conn is kept for replay;
	// where it is empty and Clients too, the entry is not retained: that lane
	// is dead with its connection.
	Keeper string
	// Clients are client ids that hear it on all their connections.
	Clients []string
}

// OnlyConn is one connection, not retained.
func OnlyConn(id ConnID) Audience { return Audience{Conn: id} }

// Sender is the connection that dispatched, kept for its client id.
func Sender(s *Subscriber) Audience { return Audience{Conn: s.ID, Keeper: s.ClientID} }

func (a *Audience) everybody() bool { return a.Conn == 0 && len(a.Clients) == 0 }

// names reports whether an audience that is not everybody holds a connection.
func (a *Audience) names(s *Subscriber) bool {
	return (a.Conn != 0 && a.Conn == s.ID) || slices.Contains(a.Clients, s.ClientID)
}

// replayed reports whether a client's reconnect gets it.
func (a *Audience) replayed(clientID string) bool {
	return a.everybody() || (a.Keeper != "" && a.Keeper == clientID) || slices.Contains(a.Clients, clientID)
}

func (a *Audience) retained() bool {
	return a.everybody() || a.Keeper != "" || len(a.Clients) > 0
}
