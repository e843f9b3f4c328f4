package relay

import "time"

// An edge that has just started cannot tell a host that is away from one that is
// on its way back, as all are when it was killed. For EdgeOptions.Settle a client
// of such a host waits, instead of being told "host offline" and waiting longer
// by itself.

// mayCome reports whether a host that is not registered may be on its way back:
// the edge is young and has not seen it.
func (e *Edge) mayCome(host string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.known[host] && time.Now().Before(e.settled)
}

// awaitHost waits until the lane's host registers, and reports that it did.
func (e *Edge) awaitHost(l *lane) bool {
	over := time.NewTimer(time.Until(e.settled))
	defer over.Stop()
	select {
	case <-l.hostCame:
		return true
	case <-over.C:
	case <-l.ctx.Done():
	}
	return false
}

// came notes that a host has registered, and wakes the clients that wait for it.
func (e *Edge) came(host string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known[host] || time.Now().After(e.settled) {
		return
	}
	e.known[host] = true
	for _, l := range e.lanes {
		if l.host == host {
			close(l.hostCame) // once: the host is known from now on
		}
	}
}
