package host

import (
	"cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
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
	// Memory is what clients make the host hold.
	Memory Memory
}

// Memory is what clients make a host hold, in bytes.
type Memory struct {
	// Limit is Options.Memory.
	Limit int64
	// Used is how much is held now.
	Used int64
	// ByKind is how much for each purpose: frames, queues, replies, content, schemas,
	// clients, state and replay.
	ByKind map[string]int64
	// Closed counts connections that were closed because of what they held.
	Closed uint64
	// Refused counts work that was refused or delayed because too much was held.
	Refused uint64
}

// memoryLoad returns what the ledger says.
func (h *Host) memoryLoad() Memory {
	stats := h.memory.Stats()
	m := Memory{
		Limit: h.memory.Limit(), Used: h.memory.Total(), ByKind: map[string]int64{},
		Closed: stats.Closed, Refused: stats.Refused,
	}
	for _, k := range budget.Kinds() {
		m.ByKind[k.String()] = h.memory.Used(k)
	}
	return m
}

// Load returns the current counts.
func (h *Host) Load() Load {
	return Load{
		Connections: h.server.Stats().Connections, MaxConnections: h.opts.MaxConnections,
		Refused: h.full.Load(), HTTP: h.conns.Stats(), Memory: h.memoryLoad(),
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
