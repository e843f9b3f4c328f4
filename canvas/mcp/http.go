package mcp

import (
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The headers by which the two lives of a request are told apart.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// perRequest is the first MCP version without sessions: there a request's
	// connection is its life, and a lost one cancels it.
	perRequest = "2026-07-28"
)

// Handler is the endpoint /mcp (canvas.md section 9), streamable HTTP. It serves
// both lives: sessions for clients that begin with initialize, and single
// requests for those of the later versions. The library has either of them in a
// handler of its own.
func Handler(s *Server) http.Handler {
	server := func(*http.Request) *sdk.Server { return s.mcp }
	options := sdk.StreamableHTTPOptions{
		SessionTimeout:             s.opts.SessionTimeout,
		MaxRequestBodyBytes:        s.opts.MaxBody,
		DisableLocalhostProtection: s.opts.HostChecked,
	}
	sessions := sdk.NewStreamableHTTPHandler(server, &options)
	single := options
	single.Stateless, single.PropagateRequestCancellation = true, true
	requests := sdk.NewStreamableHTTPHandler(server, &single)

	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if s.full(r) || !s.calls.begin() {
				w.Header().Set("Retry-After", "5")
				http.Error(w, "the host takes no more now: it is stopping, or has too many MCP sessions", http.StatusServiceUnavailable)
				return
			}
			defer s.calls.end(1) // the answer is written when the request returns
		}
		s.present.leave(r)
		if r.Header.Get(versionHeader) >= perRequest {
			requests.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(w, r)
		}
	}))
}

// full reports whether a request would begin a session that there is no room
// for. They are counted without a lock: two that begin at once may both get in.
func (s *Server) full(r *http.Request) bool {
	if r.Header.Get(sessionHeader) != "" {
		return false
	}
	n := 0
	for range s.mcp.Sessions() {
		n++
	}
	return n >= s.opts.MaxSessions
}
