package host

import (
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// DefaultMaxConnections is how many AHP connections a host has at a time: more than
// the 10,000 that are measured, at about 11 KiB each.
const DefaultMaxConnections = 16384

// Load is how full a host is.
type Load struct {
	Connections, MaxConnections int           // AHP, a relay's lanes included
	Refused                     uint64        // AHP connections that were too many, since the host was made
	HTTP                        web.ConnStats // the listener's other connections
}

// Load may be called at any time.
func (h *Host) Load() Load {
	return Load{
		Connections: h.Connections(), MaxConnections: h.opts.MaxConnections,
		Refused: h.full.Load(), HTTP: h.crowd.Stats(),
	}
}

// ServeSocket takes over a connection that did not come through the listener, as
// a relay's lane, and returns at once. Who may speak over it was decided
// elsewhere; clientID is the only client id that it may claim, "" is any. It
// leads to AHP and never to the agent's door. The connection ends when Serve
// drains, and at once with ws.CodeTryLater where there are Options.MaxConnections.
func (h *Host) ServeSocket(socket *ws.Conn, clientID string) {
	h.entering.Lock() // so that none comes between the count and its place
	defer h.entering.Unlock()
	if h.server.Stats().Connections >= h.opts.MaxConnections {
		h.full.Add(1)
		// By a close, and not by a status: a page is shown no status.
		socket.Close(ws.CodeTryLater, "the host has as many connections as it takes")
		return
	}
	h.server.Serve(socket, clientID)
}
