package relay

import "time"

// After a restart, all hosts are absent until they reconnect, and the edge cannot
// distinguish them from hosts that are offline. During EdgeOptions.StartupGrace a
// client of an absent host waits for it. Otherwise it would be refused with "host
// offline" and back off for longer than the host needs. In a fleet the same holds while
// hosts move between edges (Fleet.Unsettled).

// grace returns when the current grace period began, and when it ends. The edge's mutex
// is locked.
func (e *Edge) grace() (began, ends time.Time) {
	ends = e.graceEnds
	if e.fleet != nil && e.opts.StartupGrace > 0 {
		if other := e.fleet.Unsettled().Add(e.opts.StartupGrace); other.After(ends) {
			ends = other
		}
	}
	return ends.Add(-e.opts.StartupGrace), ends
}

// mayReturn reports whether a host that is not registered might still reconnect:
// a grace period lasts, and the host has not registered since it began.
func (e *Edge) mayReturn(host string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	began, ends := e.grace()
	at, returned := e.returned[host]
	return time.Now().Before(ends) && (!returned || at.Before(began))
}

// lookAgain is how often a client in a fleet looks for a host that it waits for: the news of
// its registration can be lost on the way between edges.
const lookAgain = time.Second

// awaitHost waits until the lane's host registers, or until it is time to look for it again.
// It returns false if the grace period or the lane ends first.
func (e *Edge) awaitHost(l *lane) bool {
	e.mu.Lock()
	_, ends := e.grace()
	e.mu.Unlock()
	over := time.NewTimer(time.Until(ends))
	defer over.Stop()
	var again <-chan time.Time
	if e.fleet != nil {
		t := time.NewTimer(lookAgain)
		defer t.Stop()
		again = t.C
	}
	select {
	case <-l.hostReturned:
		return true
	case <-again:
		return true
	case <-over.C:
	case <-l.ctx.Done():
	}
	return false
}

// noteReturn records that a host has registered, and wakes the clients that wait
// for it.
func (e *Edge) noteReturn(host string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	began, ends := e.grace()
	now := time.Now()
	if now.After(ends) {
		clear(e.returned)
		return
	}
	if at, ok := e.returned[host]; !ok || at.Before(began) {
		e.returned[host] = now
	}
	for _, l := range e.lanes {
		if l.host != host {
			continue
		}
		select {
		case l.hostReturned <- struct{}{}:
		default:
		}
	}
}
