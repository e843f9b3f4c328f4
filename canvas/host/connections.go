package host

import (
	"cmp"
	"net/netip"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// connCounts counts AHP connections by address, so that one holder of a link does not use
// up what all its holders share.
type connCounts struct {
	mu    sync.Mutex
	conns map[netip.Prefix]int
}

// perAddress is how many AHP connections an address can have: an eighth of all, or all of
// a small limit.
func (h *Host) perAddress() int {
	return max(h.opts.MaxConnections/8, min(h.opts.MaxConnections, smallLimit))
}

const smallLimit = 64

// take counts a connection of an address, unless it has most already. The caller calls
// release when the connection has ended. A loopback address has no limit: it can be a
// proxy's.
func (a *connCounts) take(addr netip.Prefix, most int) (release func(), ok bool) {
	if !addr.IsValid() || addr.Addr().IsLoopback() {
		return nil, true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conns[addr] >= most {
		return nil, false
	}
	if a.conns == nil {
		a.conns = map[netip.Prefix]int{}
	}
	a.conns[addr]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.conns[addr]--; a.conns[addr] == 0 {
			delete(a.conns, addr)
		}
	}, true
}

// serveFrom is ServeSocket for a connection from an address.
func (h *Host) serveFrom(addr netip.Prefix, socket *ws.Conn, grant ws.Grant) {
	release, ok := h.counts.take(addr, h.perAddress())
	if !ok {
		h.full.Add(1)
		socket.Close(ws.CodeTryLater, "this address is at its connection limit")
		return
	}
	h.serveSocket(socket, grant, release)
}

// ServeSocket serves AHP on a WebSocket that the program has accepted itself, for
// example through a relay, and returns at once. It checks no token: the caller has
// decided who can connect. grant has the connection's role, which is RoleView if it is
// empty, and the only client id that it can have; "" permits any. The host closes the
// connection when it is closed, or at once with [ws.CodeTryLater] at
// Options.MaxConnections.
func (h *Host) ServeSocket(socket *ws.Conn, grant ws.Grant) { h.serveSocket(socket, grant, nil) }

// ServeLane is ServeSocket for a connection through a relay. onDrain is OnDrain of its
// relay.LaneInfo: when the relay is about to stop, the host asks the client to move to
// another connection, and no request fails.
func (h *Host) ServeLane(socket *ws.Conn, grant ws.Grant, onDrain func(drain func(answer func(moves bool)))) {
	h.serveLane(socket, grant, nil, onDrain)
}

// serveSocket is ServeSocket that calls ended, if it is not nil, when the connection has
// ended.
func (h *Host) serveSocket(socket *ws.Conn, grant ws.Grant, ended func()) {
	h.serveLane(socket, grant, ended, nil)
}

func (h *Host) serveLane(socket *ws.Conn, grant ws.Grant, ended func(), onDrain func(drain func(answer func(moves bool)))) {
	h.entering.Lock() // two connections must not both be the last one below the limit
	defer h.entering.Unlock()
	if h.server.Stats().Connections >= h.opts.MaxConnections {
		h.full.Add(1)
		// A close code and not an HTTP status: a page cannot see a status.
		socket.Close(ws.CodeTryLater, "the host is at its connection limit")
		if ended != nil {
			ended()
		}
		return
	}
	grant.Role = cmp.Or(grant.Role, RoleView)
	h.server.ServeLane(socket, grant, ended, onDrain)
}
