package relay

import (
	"slices"
	"sync/atomic"
	"time"
)

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
	RefusedUnknown   Reason = "unknown"    // the directory could not look for the host
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
	RefusedOffline, RefusedUnknown, RefusedNoAnswer, RefusedLeft, RefusedHostFull, RefusedClient, RefusedNetwork, RefusedRate, RefusedEdgeFull, RefusedOlder, RefusedClosing, RefusedInternal,
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
	// Superseded counts the registrations that a later one replaced.
	Superseded uint64
	// Draining reports whether Drain was called.
	Draining bool
	// Joined are the times from the arrival of a client to its joined lane.
	Joined Histogram
	// Refused counts refusals. It has every reason, also those with count zero.
	Refused map[Reason]uint64
}

// Histogram counts durations in buckets.
type Histogram struct {
	// Counts are the durations of at most JoinedBuckets[i] each, not cumulative; the last
	// element counts the longer ones.
	Counts []uint64
	// Sum is the sum of all durations.
	Sum time.Duration
}

// JoinedBuckets are the upper bounds of Stats.Joined.
var JoinedBuckets = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
}

type histogram struct {
	counts []atomic.Uint64
	sum    atomic.Int64
}

func (h *histogram) note(d time.Duration) {
	i, _ := slices.BinarySearch(JoinedBuckets, d)
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) load() Histogram {
	out := Histogram{Sum: time.Duration(h.sum.Load())}
	for i := range h.counts {
		out.Counts = append(out.Counts, h.counts[i].Load())
	}
	return out
}

type counters struct {
	opened, toHosts, toClients, slow, evicted, superseded atomic.Uint64
	lanes                                                 atomic.Int64
	joined                                                histogram
	refused                                               map[Reason]*atomic.Uint64
}

func (c *counters) init() {
	c.joined.counts = make([]atomic.Uint64, len(JoinedBuckets)+1)
	c.refused = map[Reason]*atomic.Uint64{}
	for _, r := range reasons {
		c.refused[r] = new(atomic.Uint64)
	}
}

// Stats returns the current counts. It is safe for concurrent use.
func (e *Edge) Stats() Stats {
	e.mu.Lock()
	s := Stats{Hosts: len(e.hosts), Waiting: e.waiting, Draining: e.draining}
	e.mu.Unlock()
	s.Lanes = int(e.count.lanes.Load())
	s.LanesOpened = e.count.opened.Load()
	s.BytesToHosts, s.BytesToClient = e.count.toHosts.Load(), e.count.toClients.Load()
	s.Slow, s.Evicted = e.count.slow.Load(), e.count.evicted.Load()
	s.Superseded, s.Joined = e.count.superseded.Load(), e.count.joined.load()
	s.Refused = map[Reason]uint64{}
	for r, n := range e.count.refused {
		s.Refused[r] = n.Load()
	}
	return s
}
