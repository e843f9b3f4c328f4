package relay

import "sync/atomic"

// Reason is why somebody was turned away. There are no others than these, so
// that a metric with them as a label cannot grow.
type Reason string

// The reasons.
const (
	RefusedAddress   Reason = "address"    // a Host that is not ours
	RefusedOrigin    Reason = "origin"     // a web page of elsewhere
	RefusedToken     Reason = "token"      // absent, unknown, run out
	RefusedForbidden Reason = "forbidden"  // a token for another door or host
	RefusedQuery     Reason = "query"      // a token in the query
	RefusedSecret    Reason = "secret"     // no lane waits for it
	RefusedPath      Reason = "path"       // no door there
	RefusedUpgrade   Reason = "upgrade"    // not a WebSocket handshake, or none in time
	RefusedOffline   Reason = "offline"    // the host is not registered
	RefusedNoAnswer  Reason = "no_answer"  // the host did not take the lane
	RefusedHostFull  Reason = "host_full"  // lanes of the host, or its control connections
	RefusedClient    Reason = "client"     // lanes of the client
	RefusedRate      Reason = "rate"       // new lanes a second
	RefusedEdgeFull  Reason = "edge_full"  // lanes or hosts of the edge
	RefusedOlder     Reason = "superseded" // a registration that is not the newest
	RefusedClosing   Reason = "closing"    // the edge shuts down
	RefusedInternal  Reason = "internal"   // the authorizer or the directory failed
)

var reasons = []Reason{
	RefusedAddress, RefusedOrigin, RefusedToken, RefusedForbidden, RefusedQuery, RefusedSecret, RefusedPath, RefusedUpgrade,
	RefusedOffline, RefusedNoAnswer, RefusedHostFull, RefusedClient, RefusedRate, RefusedEdgeFull, RefusedOlder, RefusedClosing, RefusedInternal,
}

// Stats are the numbers of an edge since it was made.
type Stats struct {
	Hosts   int // registered now
	Waiting int // lanes that wait for their host now
	Lanes   int // joined now

	LanesOpened   uint64
	BytesToHosts  uint64 // payload of messages
	BytesToClient uint64
	// Slow is how many lanes ended because an end did not read.
	Slow    uint64
	Refused map[Reason]uint64 // every reason, zero included
}

type counters struct {
	opened, toHosts, toClients, slow atomic.Uint64
	lanes                            atomic.Int64
	refused                          map[Reason]*atomic.Uint64
}

func (c *counters) init() {
	c.refused = map[Reason]*atomic.Uint64{}
	for _, r := range reasons {
		c.refused[r] = new(atomic.Uint64)
	}
}

// Stats returns the numbers; it may be called at any time.
func (e *Edge) Stats() Stats {
	e.mu.Lock()
	s := Stats{Hosts: len(e.hosts), Waiting: e.waiting}
	e.mu.Unlock()
	s.Lanes = int(e.count.lanes.Load())
	s.LanesOpened = e.count.opened.Load()
	s.BytesToHosts, s.BytesToClient = e.count.toHosts.Load(), e.count.toClients.Load()
	s.Slow = e.count.slow.Load()
	s.Refused = map[Reason]uint64{}
	for r, n := range e.count.refused {
		s.Refused[r] = n.Load()
	}
	return s
}
