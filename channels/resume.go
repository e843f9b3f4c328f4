package channels

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Bookmark is a client's position to resume from: the channels that a connection
// was subscribed to, and the sequence numbers of their snapshots. The zero value is
// empty.
type Bookmark map[string]position

type position struct {
	of      *channel
	fromSeq int64
}

// URIs returns the URIs of the bookmarked channels, sorted.
func (m Bookmark) URIs() []string { return slices.Sorted(maps.Keys(m)) }

// Resumption is the answer to a reconnect: a complete replay, or snapshots.
type Resumption struct {
	// Replay reports whether it is a replay.
	Replay bool
	// Entries are the entries of a replay, in order.
	Entries []*Entry
	// Missing are, in a replay, the listed URIs that name no channel.
	Missing []string
	// Snapshots are, without a replay, the listed channels that exist.
	Snapshots []*Snapshot
}

// Hold counts the entries of a replay in an account until Release: they wait to be sent.
func (r *Resumption) Hold(a *budget.Account) {
	for _, e := range r.Entries {
		e.frame.Hold(a)
	}
}

// Release ends a Hold of the same account.
func (r *Resumption) Release(a *budget.Account) {
	for _, e := range r.Entries {
		e.frame.Release(a)
	}
}

// Resume subscribes s to the listed channels and returns what it has missed since
// lastSeen (ahp/PROTOCOL.md section 2f). It returns a replay only if that is
// complete and the client has the states to which it applies. That is so if each
// listed channel is the one in the bookmark, its snapshot was not newer than
// lastSeen (the client might not have received a newer one), and the buffers have
// dropped none of its entries since.
//
// The client might not receive the replay either. So the bookmark keeps the
// positions of the older snapshots, and the next reconnect can be a replay too.
func (tx *Tx) Resume(s *Subscriber, mark Bookmark, lastSeen int64, uris []string) Resumption {
	uris = unique(uris)
	var r Resumption
	replay := lastSeen <= tx.l.seq
	for _, uri := range uris {
		snap, err := tx.Subscribe(s, uri)
		if err != nil {
			r.Missing = append(r.Missing, uri)
			continue
		}
		if snap != nil {
			r.Snapshots = append(r.Snapshots, snap)
		}
		c := tx.l.channels[uri]
		was, known := mark[uri]
		replay = replay && known && was.of == c && was.fromSeq <= lastSeen && c.lost <= lastSeen
	}
	if replay {
		entries, size := tx.missed(s, lastSeen)
		if size <= tx.l.replayBytes {
			s.restore(mark)
			return Resumption{Replay: true, Entries: entries, Missing: r.Missing}
		}
	}
	r.Missing = nil
	return r
}

// restore gives the subscriptions the positions that the bookmark has.
func (s *Subscriber) restore(mark Bookmark) {
	for c, sub := range s.subs.all() {
		sub.fromSeq = mark[c.uri].fromSeq
		s.subs.set(c, sub)
	}
}

// missed returns the entries that s would have received after seq, and their size.
// Consecutive entries are often of one channel, so the subscription is looked up
// only when the channel changes.
func (tx *Tx) missed(s *Subscriber, seq int64) (entries []*Entry, size int) {
	all := merge(tx.l.states.after(seq), tx.l.messages.after(seq))
	entries = all[:0]
	var of *channel
	subscribed := false
	for _, e := range all {
		if e.of != of {
			of = e.of
			_, subscribed = s.subs.get(of)
		}
		if subscribed && s.sees(e.row) && e.Audience.replayed(s.ClientID) {
			entries = append(entries, e)
			size += e.size()
		}
	}
	return entries, size
}

func unique(uris []string) []string {
	seen := make(map[string]bool, len(uris))
	return slices.DeleteFunc(slices.Clone(uris), func(u string) bool {
		dup := seen[u]
		seen[u] = true
		return dup
	})
}

// Envelope returns the encoded ActionEnvelope of the entry.
func (e *Entry) Envelope() []byte { return e.envelope }
