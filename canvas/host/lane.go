package host

import "github.com/ahp-canvas/ahp-canvas/ahp/ws"

// ServeSocket takes over a connection that did not come through the listener, as
// a relay's lane, and returns at once. Who may speak over it was decided
// elsewhere; clientID is the only client id that it may claim, "" is any. It
// leads to AHP and never to the agent's door. The connection ends when Serve
// drains.
func (h *Host) ServeSocket(socket *ws.Conn, clientID string) { h.server.Serve(socket, clientID) }
