package channels

import (
	"iter"
	"slices"
)

// listeners are a channel's subscribers, and where there are many of them, who is
// who: what one connection or one client is to hear must not cost the more, the more
// there are that do not. Guarded by the log's mutex.
type listeners struct {
	all []*Subscriber // the order means nothing

	// Made when somebody is looked for among many; then kept with all.
	conns   map[ConnID]*Subscriber
	clients map[string][]*Subscriber // by client id
}

// many is from where on looking at each costs more than the maps.
const many = 32

func (l *listeners) add(s *Subscriber) (at int) {
	l.all = append(l.all, s)
	if l.conns != nil {
		l.name(s)
	}
	return len(l.all) - 1
}

func (l *listeners) name(s *Subscriber) {
	l.conns[s.ID] = s
	l.clients[s.ClientID] = append(l.clients[s.ClientID], s)
}

// remove takes out the one at a place. It returns the one that is in that place now,
// nil for none.
func (l *listeners) remove(at int) (moved *Subscriber) {
	s, last := l.all[at], len(l.all)-1
	l.all[at], l.all[last] = l.all[last], nil
	l.all = l.all[:last]
	if l.conns != nil {
		l.forget(s)
	}
	if at == last {
		return nil
	}
	return l.all[at]
}

func (l *listeners) forget(s *Subscriber) {
	delete(l.conns, s.ID)
	of := slices.DeleteFunc(l.clients[s.ClientID], func(o *Subscriber) bool { return o == s })
	if l.clients[s.ClientID] = of; len(of) == 0 {
		delete(l.clients, s.ClientID)
	}
}

// named are those whom an audience names, each once.
func (l *listeners) named(a *Audience) iter.Seq[*Subscriber] {
	return func(yield func(*Subscriber) bool) {
		if len(l.all) < many {
			for _, s := range l.all {
				if a.names(s) && !yield(s) {
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

// has reports whether a connection of a client is among them.
func (l *listeners) has(clientID string) bool {
	if len(l.all) < many {
		return slices.ContainsFunc(l.all, func(s *Subscriber) bool { return s.ClientID == clientID })
	}
	l.index()
	return len(l.clients[clientID]) > 0
}

func (l *listeners) index() {
	if l.conns != nil {
		return
	}
	l.conns, l.clients = make(map[ConnID]*Subscriber, len(l.all)), make(map[string][]*Subscriber, len(l.all))
	for _, s := range l.all {
		l.name(s)
	}
}
