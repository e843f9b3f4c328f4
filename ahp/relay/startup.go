package relay

import "time"

// After a restart, all hosts are absent until they reconnect, and the edge cannot
// distinguish them from hosts that are offline. During EdgeOptions.StartupGrace a
// client of an absent host waits for it. Otherwise it would be refused with "host
// offline" and back off for longer than the host needs.

// mayReturn reports whether a host that is not registered might still reconnect:
// the edge has just started, and the host has not registered since.
func (e *Edge) mayReturn(host string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.returned[host] && time.Now().Before(e.graceEnds)
}

// awaitHost waits until the lane's host registers. It returns false if the grace
// period or the lane ends first.
func (e *Edge) awaitHost(l *lane) bool {
	over := time.NewTimer(time.Until(e.graceEnds))
	defer over.Stop()
	select {
	case <-l.hostReturned:
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
	if e.returned[host] || time.Now().After(e.graceEnds) {
		return
	}
	e.returned[host] = true
	for _, l := range e.lanes {
		if l.host == host {
			close(l.hostReturned) // only once, since returned[host] is set now
		}
	}
}
