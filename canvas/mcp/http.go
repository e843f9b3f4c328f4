package mcp

import (
	"context"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// These headers distinguish requests of a session from single requests.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// perRequest is the first MCP version without sessions, in which a lost
	// connection cancels its request.
	perRequest = "2026-07-28"
)

// Handler returns the endpoint /mcp (canvas/PROTOCOL.md section 9), streamable HTTP. It
// serves sessions for clients that begin with initialize, and single requests for
// clients of later versions; the MCP library has a handler for each.
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
		r = s.named(r)
		done, ok := s.enter(r)
		if !ok {
			w.Header().Set("Retry-After", "5")
			http.Error(w, "the host accepts no further calls: it is stopping, or has too many MCP sessions", http.StatusServiceUnavailable)
			return
		}
		defer done() // the answer is written before ServeHTTP returns
		s.sessionCalls.leave(r)
		defer s.uses.begin(r)()
		if isSingle(r) {
			requests.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(&sessionWriter{w, s, r.Header.Get(sessionHeader) == ""}, r)
		}
	}))
}

// isSingle reports whether a request is of a client that has no session.
func isSingle(r *http.Request) bool { return r.Header.Get(versionHeader) >= perRequest }

// enter counts a call until done is called. It returns false if there are too many, or if
// the host is stopping.
func (s *Server) enter(r *http.Request) (done func(), ok bool) {
	leave := func() {}
	switch {
	case r.Method != http.MethodPost:
		return leave, true
	case isSingle(r):
		if leave, ok = s.single(); !ok {
			s.refused(r)
			return nil, false
		}
	case s.full(r):
		s.refused(r)
		return nil, false
	}
	if !s.calls.begin() {
		leave()
		return nil, false
	}
	return func() { s.calls.end(1); leave() }, true
}

// refused delays the refusal of a request because there are too many. A host that is
// stopping refuses at once.
func (s *Server) refused(r *http.Request) {
	if s.opts.Refused != nil {
		s.opts.Refused(r)
	}
}

// sessionWriter learns the id of a new session when its first answer begins.
type sessionWriter struct {
	http.ResponseWriter
	server *Server
	first  bool
}

func (w *sessionWriter) WriteHeader(status int) {
	if w.first {
		w.first = false
		w.server.uses.add(w.Header().Get(sessionHeader))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *sessionWriter) Write(p []byte) (int, error) {
	if w.first {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher, which the MCP library asks for.
func (w *sessionWriter) Flush() {
	if w.first {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// callerHeader has the name of a request's token on the way to its tool: the MCP library
// passes on headers, and not contexts.
const callerHeader = "Ahp-Canvas-Caller"

// named returns the request with the name of its token, in place of one that the client
// wrote.
func (s *Server) named(r *http.Request) *http.Request {
	name := ""
	if s.opts.Caller != nil {
		name = s.opts.Caller(r.Context())
	}
	if name == "" && r.Header[callerHeader] == nil {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del(callerHeader)
	if name != "" {
		r.Header.Set(callerHeader, url.QueryEscape(name))
	}
	return r
}

// withCaller returns the context of a call with the name of its token, and with the span
// of the request that made it.
func withCaller(ctx context.Context, req *sdk.CallToolRequest) context.Context {
	if req.Extra == nil {
		return ctx
	}
	if parent, ok := trace.Parse(req.Extra.Header.Get("Traceparent")); ok {
		ctx = trace.With(ctx, parent)
	}
	name, err := url.QueryUnescape(req.Extra.Header.Get(callerHeader))
	if err != nil {
		return ctx
	}
	return canvas.WithCaller(ctx, name)
}

// withMeta returns the context of a call with the span that its _meta names, as clients on
// standard input and output do.
func withMeta(ctx context.Context, req *sdk.CallToolRequest) context.Context {
	text, _ := req.Params.Meta["traceparent"].(string)
	if parent, ok := trace.Parse(text); ok {
		return trace.With(ctx, parent)
	}
	return ctx
}
