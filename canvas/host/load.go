package host

import (
	"cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// Load is how many connections a host has.
type Load struct {
	// Connections counts open AHP connections, those through a relay included.
	Connections int
	// MaxConnections is their limit.
	MaxConnections int
	// Refused counts AHP connections that were refused at the limit.
	Refused uint64
	// HTTP counts the other connections of Serve's listener.
	HTTP web.ConnStats
}

// Load returns the current counts.
func (h *Host) Load() Load {
	return Load{
		Connections: h.server.Stats().Connections, MaxConnections: h.opts.MaxConnections,
		Refused: h.full.Load(), HTTP: h.conns.Stats(),
	}
}

// ServeSocket serves AHP on a WebSocket that the program has accepted itself, for
// example through a relay, and returns at once. It checks no token: the caller has
// decided who can connect. grant has the connection's role, which is RoleView if it is
// empty, and the only client id that it can have; "" permits any. The host closes the
// connection when it is closed, or at once with [ws.CodeTryLater] at
// Options.MaxConnections.
func (h *Host) ServeSocket(socket *ws.Conn, grant ws.Grant) {
	h.entering.Lock() // two connections must not both be the last one below the limit
	defer h.entering.Unlock()
	if h.server.Stats().Connections >= h.opts.MaxConnections {
		h.full.Add(1)
		// A close code and not an HTTP status: a page cannot see a status.
		socket.Close(ws.CodeTryLater, "the host is at its connection limit")
		return
	}
	grant.Role = cmp.Or(grant.Role, RoleView)
	h.server.Serve(socket, grant)
}
