package server

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Call sends a request to a client on its newest connection and returns the
// response. The response must arrive within the given time after the request was
// sent (ahp/PROTOCOL.md section 1c). The request is sent at most once. If the
// connection ends, the call fails at once. The error is the client's *ahp.Error, one
// that wraps a *ws.CloseError if the client is not connected, or the context's.
func (s *Server) Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error) {
	c := s.clients.newest(clientID)
	for c != nil && !c.beginCall() {
		c = s.clients.newest(clientID) // the client moved in between
	}
	if c == nil {
		return nil, fmt.Errorf("call %s: %w", method, &ws.CloseError{Code: ws.CodeLost, Reason: "the client is not connected"})
	}
	defer c.endCall()
	return c.peer.CallWithin(ctx, within, method, params)
}

// Connection returns the connection on which Call sends, or nil if the client is not
// connected.
func (s *Server) Connection(clientID string) *channels.Subscriber {
	if c := s.clients.newest(clientID); c != nil {
		return c.sub
	}
	return nil
}

// Capabilities returns what a client declared on its newest open connection. If it
// has none, Capabilities returns what a reconnect would resume; for an unknown
// client it returns nil.
func (s *Server) Capabilities(clientID string) ahp.Capabilities {
	return s.clients.capabilities(clientID)
}

// Expect records a client that was connected before the host was restarted. Its
// grace period begins now; during it, the client has these capabilities. The client
// must initialize again, because there is nothing to resume. token is the id of the token
// that it used, which it must use again; "" is unknown.
func (s *Server) Expect(clientID, token string, caps ahp.Capabilities) {
	s.clients.expect(clientID, token, caps)
}

// Token returns the id of the token that a client uses or used last, or "".
func (s *Server) Token(clientID string) string { return s.clients.tokenOf(clientID) }
