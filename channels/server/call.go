package server

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Call sends a request to a client, on its newest connection, and waits for the
// answer, for so long from the moment of sending (ahp-host.md section 1c). The
// request is sent once or not at all; the answer counts from that connection only,
// whose end fails the call at once. The error is the client's *ahp.Error, or what
// wraps a *ws.CloseError where the client is not there, or the context's.
func (s *Server) Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error) {
	c := s.clients.newest(clientID)
	if c == nil {
		return nil, fmt.Errorf("call %s: %w", method, &ws.CloseError{Code: ws.CodeLost, Reason: "the client is not connected"})
	}
	return c.peer.CallWithin(ctx, within, method, params)
}

// Capabilities is what a known client declared on its newest connection that lives;
// where none does, what it would come back with. An unknown one has none.
func (s *Server) Capabilities(clientID string) ahp.Capabilities {
	return s.clients.capabilities(clientID)
}

// Expect lists a client that took part before the host was restarted. Its grace
// begins now; until it is over it is known to have these capabilities. It must
// initialize again: what it could reconnect from is gone.
func (s *Server) Expect(clientID string, caps ahp.Capabilities) { s.clients.expect(clientID, caps) }
