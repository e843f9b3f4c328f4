package relay

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// watches are the hosts of this edge's lanes in a fleet: a newer run of such a host can
// register at another edge.
type watches struct {
	mu    sync.Mutex
	hosts map[string]*watch
}

type watch struct {
	lanes int
	stop  func()
}

// watch follows the registrations of a host at other edges while it has lanes here.
func (e *Edge) watch(host string) (unwatch func()) {
	if e.fleet == nil {
		return func() {}
	}
	w := &e.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.hosts[host]
	if at == nil {
		at = &watch{}
		w.hosts[host] = at
		at.stop = e.fleet.Watch(host, func(generation int64) { e.registeredElsewhere(host, generation) })
	}
	at.lanes++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if at.lanes--; at.lanes == 0 {
			delete(w.hosts, host)
			at.stop()
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.newest, host)
		}
	}
}

// registeredElsewhere ends the lanes of older runs, and wakes the clients that wait for the
// host.
func (e *Edge) registeredElsewhere(host string, generation int64) {
	e.watches.mu.Lock()
	if e.watches.hosts[host] != nil {
		e.mu.Lock() // setGeneration either sees newest or precedes endLanes
		e.newest[host] = max(e.newest[host], generation)
		e.mu.Unlock()
	}
	e.watches.mu.Unlock()
	e.noteReturn(host)
	e.endLanes(func(l *lane) bool { return l.host == host && l.generation != 0 && l.generation < generation }, superseded)
}

// clientName is a name for a client's token that is the same at every edge. It discloses
// nothing.
func clientName(g Grant) string {
	sum := sha256.Sum256([]byte("client " + g.counted()))
	return hex.EncodeToString(sum[:8])
}

// quiet is how long a lane of a draining edge must be silent before it is closed, unless the
// client spoke last: then its answer can take up to unanswered. A host that does not answer
// the notice of a drain within that time is one that does not know it.
const (
	quiet      = 250 * time.Millisecond
	unanswered = 5 * time.Second
)

// leaveWithin is how long a client that moves has to leave its lane: longer than a request
// takes. After that the lane is closed like others.
const leaveWithin = 35 * time.Second

// Payloads of pings on the host's end of a lane: the edge's when it drains, and the host's
// answers.
const (
	noticeDrain = "ahp-relay drain"
	noticeMoves = "ahp-relay moves" // the client leaves the lane when it has its answers
	noticeStays = "ahp-relay stays" // the client does not know of drains
)

const (
	laneStays = 1 + iota
	laneMoves
)

// answered takes the host's answer to the notice of a drain.
func (l *lane) answered(notice string) {
	switch notice {
	case noticeMoves:
		l.answer.Store(laneMoves)
	case noticeStays:
		l.answer.Store(laneStays)
	}
}

// onDrain returns the function of LaneInfo.OnDrain for the host's end of a lane. Until it is
// called, the answer is that the client stays.
func onDrain(conn *ws.Conn) func(func(answer func(moves bool))) {
	answer := func(moves bool) {
		if moves {
			conn.Ping(noticeMoves)
		} else {
			conn.Ping(noticeStays)
		}
	}
	var mu sync.Mutex
	var serve func(answer func(moves bool))
	drains := false
	conn.OnPing(func(notice string) {
		if notice != noticeDrain {
			return
		}
		mu.Lock()
		drains = true
		do := serve
		mu.Unlock()
		if do == nil {
			answer(false)
		} else {
			do(answer)
		}
	})
	return func(do func(answer func(moves bool))) {
		mu.Lock()
		late := drains
		serve = do
		mu.Unlock()
		if late {
			do(answer)
		}
	}
}

var moved = &ws.CloseError{Code: ws.CodeGoingAway, Reason: "the relay moves this connection"}

// traffic is what a lane has forwarded, for an edge that drains. Forwarding costs one store:
// only the drain reads the clock.
type traffic struct {
	// last identifies the newest message: its number in its direction, and in the lowest bit
	// whether the client sent it. 0 is the opening message, which is the host's.
	last atomic.Uint64

	seen  uint64    // last, when the drain looked
	since time.Time // when it saw it first; zero before
}

// from returns a function that notes a message of one direction. It is not for concurrent
// use: each direction has one.
func (t *traffic) from(client bool) (note func()) {
	var n uint64
	if client {
		n = 1
	}
	return func() {
		n += 2
		t.last.Store(n)
	}
}

// idle reports whether the lane can end with no answer on its way, as far as an edge can
// know: it does not read messages. A lane is silent from the first call that sees it so. The
// caller holds the write lock of the host's end. known: the client
// stays until the edge closes the lane.
func (t *traffic) idle(known bool) bool {
	now := time.Now()
	if last := t.last.Load(); last != t.seen || t.since.IsZero() {
		t.seen, t.since = last, now
	}
	if t.seen&1 == 1 {
		return now.Sub(t.since) >= unanswered
	}
	return known && now.Sub(t.since) >= quiet
}

// move closes a joined lane if it is idle and its client does not move away. What its client sends from then on does not reach
// the host.
func (l *lane) move(host *ws.Conn) {
	answer, since := l.answer.Load(), time.Since(l.noticed)
	if answer == laneMoves && since < leaveWithin {
		return
	}
	closed := host.CloseIf(moved.Code, moved.Reason, func() bool {
		if !l.traffic.idle(answer == laneStays || since >= unanswered) {
			return false
		}
		l.client.Close(moved.Code, moved.Reason) // before the host's end, whose reason would become the client's
		return true
	})
	if closed {
		l.end(moved)
	}
}
