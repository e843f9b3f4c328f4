package relay

import (
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// drainInterval is how often a draining edge looks for lanes that are idle.
const drainInterval = 50 * time.Millisecond

// Drain prepares an edge for Close. From then on the edge accepts no new lanes and
// registrations (ws.CodeGoingAway), and it asks its hosts to register elsewhere. It still
// passes offers for hosts that have not moved, so that edges find them. It notifies the host of
// each lane if there are other edges ([LaneInfo].OnDrain). A client that moves to another lane
// has this one ended when it has its answers. Drain closes the others once the host spoke last and the lane was silent for a
// moment. It returns when all have ended, or when ctx is canceled; Close ends the rest.
//
// accepting, if not nil, is called once no host has to dial back anymore: the server's
// listeners can be closed then.
func (e *Edge) Drain(ctx context.Context, accepting func()) {
	e.mu.Lock()
	e.draining = true
	var hosts []*registration
	for _, r := range e.hosts {
		hosts = append(hosts, r)
	}
	e.mu.Unlock()
	elsewhere := e.fleet != nil && e.fleet.Leave() // clients can move
	for _, r := range hosts {
		r.askToMove()
	}
	tick := time.NewTicker(drainInterval)
	defer tick.Stop()
	for {
		left, waiting := e.moveIdle(elsewhere)
		if waiting == 0 && accepting != nil {
			accepting()
			accepting = nil
		}
		if left == 0 && waiting == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// moveIdle closes the idle lanes, and with notice first lets their clients move. It returns how many lanes are left, and how many of them
// wait for their host.
func (e *Edge) moveIdle(notice bool) (left, waiting int) {
	type joined struct {
		*lane
		host *ws.Conn
	}
	var all []joined
	e.mu.Lock()
	for _, l := range e.lanes {
		if l.hostConn != nil {
			all = append(all, joined{l, l.hostConn})
		}
	}
	left, waiting = len(e.lanes), e.waiting
	e.mu.Unlock()
	for _, l := range all {
		if l.noticed.IsZero() {
			l.noticed = time.Now()
			if notice {
				l.host.Ping(noticeDrain)
			} else {
				l.answer.Store(laneStays)
			}
		}
		l.move(l.host)
	}
	return left, waiting
}

// isDraining reports whether Drain was called.
func (e *Edge) isDraining() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.draining
}
