package client

import "sync"

// watches are the open watches of a client. Its methods are called under the
// client's mutex.
type watches struct {
	mu    *sync.Mutex // the client's
	limit int         // of each queue, in bytes
	open  map[*Watch]struct{}
}

func newWatches(mu *sync.Mutex, limit int) watches {
	return watches{mu: mu, limit: limit, open: map[*Watch]struct{}{}}
}

// push adds an event to the watches of its channel.
func (s *watches) push(ev Event) {
	for w := range s.open {
		w.push(ev)
	}
}

// endAll ends every watch with an error.
func (s *watches) endAll(err error) {
	for w := range s.open {
		w.end(err)
	}
}
