package channels

import (
	"iter"
	"slices"
)

// subscribers are the subscribers of a channel. If there are many, they are
// indexed, so that the cost of an entry for a few of them does not grow with their
// number. Guarded by the log's mutex.
type subscribers struct {
	all []*Subscriber // in no order

	// The index. It is nil until it is first needed, and maintained from then on.
	conns   map[ConnID]*Subscriber
	clients map[string][]*Subscriber // by client id
}

// many is the number of subscribers from which the index is cheaper than a scan,
// and batches are cheaper than single frames.
const many = 32

func (l *subscribers) add(s *Subscriber) (at int) {
	l.all = append(l.all, s)
	if l.conns != nil {
		l.enter(s)
	}
	return len(l.all) - 1
}

// enter adds s to the index.
func (l *subscribers) enter(s *Subscriber) {
	l.conns[s.ID] = s
	l.clients[s.ClientID] = append(l.clients[s.ClientID], s)
}

// remove removes the subscriber at a position. The last subscriber takes the
// position; remove returns it, or nil if the removed one was the last.
func (l *subscribers) remove(at int) (moved *Subscriber) {
	s, last := l.all[at], len(l.all)-1
	l.all[at], l.all[last] = l.all[last], nil
	l.all = l.all[:last]
	if l.conns != nil {
		l.drop(s)
	}
	if at == last {
		return nil
	}
	return l.all[at]
}

// drop removes s from the index.
func (l *subscribers) drop(s *Subscriber) {
	delete(l.conns, s.ID)
	of := slices.DeleteFunc(l.clients[s.ClientID], func(o *Subscriber) bool { return o == s })
	if l.clients[s.ClientID] = of; len(of) == 0 {
		delete(l.clients, s.ClientID)
	}
}

// in returns the subscribers in a restricted audience, each once.
func (l *subscribers) in(a *Audience) iter.Seq[*Subscriber] {
	return func(yield func(*Subscriber) bool) {
		if len(l.all) < many {
			for _, s := range l.all {
				if a.includes(s) && !yield(s) {
					return
				}
			}
			return
		}
		l.index()
		if s := l.conns[a.Conn]; s != nil && !slices.Contains(a.Clients, s.ClientID) && !yield(s) {
			return
		}
		for n, id := range a.Clients {
			if slices.Contains(a.Clients[:n], id) {
				continue
			}
			for _, s := range l.clients[id] {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// hasClient reports whether any connection of a client is subscribed.
func (l *subscribers) hasClient(clientID string) bool {
	if len(l.all) < many {
		return slices.ContainsFunc(l.all, func(s *Subscriber) bool { return s.ClientID == clientID })
	}
	l.index()
	return len(l.clients[clientID]) > 0
}

// index builds the index if there is none.
func (l *subscribers) index() {
	if l.conns != nil {
		return
	}
	l.conns, l.clients = make(map[ConnID]*Subscriber, len(l.all)), make(map[string][]*Subscriber, len(l.all))
	for _, s := range l.all {
		l.enter(s)
	}
}
