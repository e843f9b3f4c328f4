package channels

import (
	"maps"
	"slices"
)

// Bookmark is what a connection was subscribed to when it ended: which
// incarnation of each URI, and from which snapshot on. The zero value is
// nothing.
type Bookmark map[string]place

type place struct {
	of      *channel
	fromSeq int64
}

// URIs returns the bookmarked channels, sorted.
func (m Bookmark) URIs() []string { return slices.Sorted(maps.Keys(m)) }

// Resumption is the answer to a reconnect: everything after a number, or
// snapshots; never a part.
type Resumption struct {
	// Replay says which of the two it is.
	Replay  bool
	Entries []*Entry // ascending
	Missing []string // listed, but not there (replay only)

	Snapshots []*Snapshot // of the listed channels that are there
}

// Resume subscribes s to the listed channels and returns what it missed since
// lastSeen (ahp-host.md section 2f). A replay is given only where it is
// complete and the client has a base for it: each listed channel is the one
// that the bookmark holds, its snapshot was not newer than lastSeen (the client
// may never have got it), and nothing of it fell out of the buffers.
//
// A replay is no base: the client may never read it. After one the bookmark has
// the snapshots of before, so that the next reconnect can be a replay too.
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
			s.rest(mark)
			return Resumption{Replay: true, Entries: entries, Missing: r.Missing}
		}
	}
	r.Missing = nil
	return r
}

// rest puts the subscriptions on the bases that the bookmark holds.
func (s *Subscriber) rest(mark Bookmark) {
	for c, sub := range s.subs {
		sub.fromSeq = mark[c.uri].fromSeq
		s.subs[c] = sub
	}
}

// missed collects what s would have received after seq. Neighbours are often of
// one channel, so the table is asked only where that changes.
func (tx *Tx) missed(s *Subscriber, seq int64) (entries []*Entry, size int) {
	all := merge(tx.l.states.after(seq), tx.l.messages.after(seq))
	entries = all[:0]
	var of *channel
	subscribed := false
	for _, e := range all {
		if e.of != of {
			of = e.of
			_, subscribed = s.subs[of]
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

// Envelope returns the entry's ActionEnvelope as it goes into a replay.
func (e *Entry) Envelope() []byte { return e.envelope }
