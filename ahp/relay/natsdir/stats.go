package natsdir

import (
	"errors"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// Stats are counts of a directory since it was opened, but for State and Edges.
type Stats struct {
	// State is the state of the connection to NATS.
	State State
	// Edges is the number of other edges that sent a sign of life recently.
	Edges int
	// Sent counts the offers that were sent to other edges.
	Sent uint64
	// Answered counts the offers sent that an edge answered.
	Answered uint64
	// Unanswered counts the offers sent that no edge answered in time.
	Unanswered uint64
	// Offline counts the offers sent for which no edge had the host.
	Offline uint64
	// Unavailable counts the offers that were not sent because NATS could not be reached.
	Unavailable uint64
	// Received counts the offers from other edges.
	Received uint64
	// Refused counts the offers from other edges whose URL is not in Options.Edges.
	Refused uint64
	// Announced counts the registrations that were announced again.
	Announced uint64
	// Dropped counts how often messages were dropped because this edge took them too
	// slowly.
	Dropped uint64
	// Disconnects counts the lost connections to NATS.
	Disconnects uint64
}

// State is the state of the connection to NATS.
type State string

// The states.
const (
	Connected    State = "connected"
	Disconnected State = "disconnected" // or not yet connected; the directory dials
	Closed       State = "closed"
)

type counters struct {
	sent, answered, unanswered, offline, unavailable, received, refused, announced, dropped, disconnects atomic.Uint64
}

// Stats returns the current counts. It is safe for concurrent use.
func (d *Directory) Stats() Stats {
	c := &d.count
	s := Stats{
		State: Disconnected, Sent: c.sent.Load(), Answered: c.answered.Load(), Unanswered: c.unanswered.Load(), Offline: c.offline.Load(),
		Unavailable: c.unavailable.Load(), Received: c.received.Load(), Refused: c.refused.Load(), Announced: c.announced.Load(),
		Dropped: c.dropped.Load(), Disconnects: c.disconnects.Load(),
	}
	switch d.nc.Status() {
	case nats.CONNECTED:
		s.State = Connected
	case nats.CLOSED:
		s.State = Closed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Edges = len(d.edges)
	return s
}

// Degraded returns why clients cannot reach hosts at other edges, or nil.
func (d *Directory) Degraded() error {
	if d.nc.IsConnected() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.remedy != "" {
		return errors.New("NATS does not accept this relay: " + d.remedy)
	}
	return errors.New("NATS cannot be reached: hosts at this edge can be reached from here, and hosts at other edges cannot")
}
