package relay

import "sync/atomic"

// Reason is why the edge refused a connection. The set is fixed, so it can label
// a metric.
type Reason string

// The reasons.
const (
	RefusedAddress   Reason = "address"    // the Host header is not in EdgeOptions.Hosts
	RefusedOrigin    Reason = "origin"     // the Origin header is not in EdgeOptions.Origins
	RefusedToken     Reason = "token"      // the token is absent, unknown or expired
	RefusedForbidden Reason = "forbidden"  // the token is for another audience or host
	RefusedQuery     Reason = "query"      // the token is in the query
	RefusedSecret    Reason = "secret"     // no lane waits for the secret
	RefusedPath      Reason = "path"       // the path names no endpoint
	RefusedUpgrade   Reason = "upgrade"    // no WebSocket handshake or registration, or none in time
	RefusedOffline   Reason = "offline"    // the host is not registered
	RefusedNoAnswer  Reason = "no_answer"  // the host did not accept the lane
	RefusedLeft      Reason = "left"       // the client disconnected before the host answered
	RefusedHostFull  Reason = "host_full"  // the limit on a host's lanes or control connections
	RefusedClient    Reason = "client"     // the limit on the lanes of a token
	RefusedNetwork   Reason = "network"    // the limit on the lanes of an address
	RefusedRate      Reason = "rate"       // the limit on new lanes per second
	RefusedEdgeFull  Reason = "edge_full"  // the limit on the edge's lanes or hosts
	RefusedOlder     Reason = "superseded" // the host has a newer registration
	RefusedClosing   Reason = "closing"    // the edge is shutting down
	RefusedInternal  Reason = "internal"   // the authorizer or the directory failed
)

var reasons = []Reason{
	RefusedAddress, RefusedOrigin, RefusedToken, RefusedForbidden, RefusedQuery, RefusedSecret, RefusedPath, RefusedUpgrade,
	RefusedOffline, RefusedNoAnswer, RefusedLeft, RefusedHostFull, RefusedClient, RefusedNetwork, RefusedRate, RefusedEdgeFull, RefusedOlder, RefusedClosing, RefusedInternal,
}

// Stats are counts of an edge. Hosts, Waiting and Lanes are current; the others
// count since the edge was made.
type Stats struct {
	// Hosts is the number of registered hosts.
	Hosts int
	// Waiting is the number of clients whose host has not dialed back yet.
	Waiting int
	// Lanes is the number of lanes that connect a client with its host.
	Lanes int

	// LanesOpened counts the lanes that connected.
	LanesOpened uint64
	// BytesToHosts counts the payload of messages from clients.
	BytesToHosts uint64
	// BytesToClient counts the payload of messages from hosts.
	BytesToClient uint64
	// Slow counts the lanes that ended because an end did not read.
	Slow uint64
	// Evicted counts the lanes that ended because their link had most, and another one that
	// was opened at the same address or with the same token had none left.
	Evicted uint64
	// Refused counts refusals. It has every reason, also those with count zero.
	Refused map[Reason]uint64
}

type counters struct {
	opened, toHosts, toClients, slow, evicted atomic.Uint64
	lanes                                     atomic.Int64
	refused                                   map[Reason]*atomic.Uint64
}

func (c *counters) init() {
	c.refused = map[Reason]*atomic.Uint64{}
	for _, r := range reasons {
		c.refused[r] = new(atomic.Uint64)
	}
}

// Stats returns the current counts. It is safe for concurrent use.
func (e *Edge) Stats() Stats {
	e.mu.Lock()
	s := Stats{Hosts: len(e.hosts), Waiting: e.waiting}
	e.mu.Unlock()
	s.Lanes = int(e.count.lanes.Load())
	s.LanesOpened = e.count.opened.Load()
	s.BytesToHosts, s.BytesToClient = e.count.toHosts.Load(), e.count.toClients.Load()
	s.Slow, s.Evicted = e.count.slow.Load(), e.count.evicted.Load()
	s.Refused = map[Reason]uint64{}
	for r, n := range e.count.refused {
		s.Refused[r] = n.Load()
	}
	return s
}
