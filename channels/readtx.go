package channels

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// ReadTx is a reading transaction: the log while View holds its lock, without
// the methods that change it. It is valid only until the function that received
// it returns.
type ReadTx struct{ l *Log }

// Seq returns the sequence number of the newest entry.
func (tx *ReadTx) Seq() int64 { return tx.l.seq }

// State returns a channel's state, and whether the channel exists.
func (tx *ReadTx) State(uri string) (State, bool) {
	c := tx.l.channels[uri]
	if c == nil {
		return nil, false
	}
	return c.state, true
}

// Parent returns the URI of the channel that owns uri, or "" if none does.
func (tx *ReadTx) Parent(uri string) string {
	if c := tx.l.channels[uri]; c != nil {
		return c.parent
	}
	return ""
}

// Channels returns the URIs of a scheme, sorted. It visits every channel of the
// log, so it is for rare events.
func (tx *ReadTx) Channels(scheme string) []string {
	var uris []string
	for uri := range tx.l.channels {
		if ahp.SchemeOf(uri) == scheme {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// Bookmark returns the subscriptions of a connection for a later Resume; after
// [Log.Leave], those that it ended.
func (tx *ReadTx) Bookmark(s *Subscriber) Bookmark {
	if s.left != nil {
		return s.left
	}
	return s.bookmark()
}

// Subscribed reports whether a connection is subscribed to uri.
func (tx *ReadTx) Subscribed(s *Subscriber, uri string) bool {
	c := tx.l.channels[uri]
	if c == nil {
		return false
	}
	_, ok := s.subs.get(c)
	return ok
}

// Subscriptions returns the URIs that a connection is subscribed to, sorted.
func (tx *ReadTx) Subscriptions(s *Subscriber) []string {
	uris := make([]string, 0, s.subs.len())
	for c := range s.subs.all() {
		uris = append(uris, c.uri)
	}
	slices.Sort(uris)
	return uris
}

// SubscriptionCount returns the number of channels that a connection is
// subscribed to.
func (tx *ReadTx) SubscriptionCount(s *Subscriber) int { return s.subs.len() }

// Subscribers returns the connections that are subscribed to uri.
func (tx *ReadTx) Subscribers(uri string) []*Subscriber {
	if c := tx.l.channels[uri]; c != nil {
		return slices.Clone(c.subs.all)
	}
	return nil
}

// ClientSubscribed reports whether any connection of a client id is subscribed
// to uri.
func (tx *ReadTx) ClientSubscribed(clientID, uri string) bool {
	c := tx.l.channels[uri]
	return c != nil && c.subs.hasClient(clientID)
}
