// Package host is the assembly: log, sessions, canvases, page, agent's door and
// AHP endpoint behind one listener. A Go program embeds it in ten lines.
//
// # What stands behind the listener (canvas.md section 9)
//
//	/          the page                          no token; it holds no secret
//	/ahp       the AHP WebSocket                 view or agent token
//	/mcp       the agent's door                  agent token
//	/healthz   200 while the host serves         no token
//	/proof     that the host knows its tokens    no token; it tells none (ahp/proof)
//
// Every request passes the exact Host list first, then Origin, then the token.
// Content hosts serve the page's frame files and nothing else.
//
// # How many
//
// An AHP connection that is one too many (Options.MaxConnections) is closed with
// ws.CodeTryLater; pages and clients try again by themselves. The listener's other
// connections are bounded by a web.ConnLimiter (Options.MaxHTTP): page files, agents, and
// those that have yet to say what they want, of which a quiet one makes room.
// One that nobody opens with a handshake ends after Options.Server.Handshake. Load says
// how full the host is.
//
// # Life
//
// New listens, restores what Options.Store holds, and makes the default session;
// Serve serves until its context is
// done, then drains: it takes no new connection, answers what was accepted,
// closes every connection with a typed reason (1001), commits what is still to be
// committed, and returns.
//
// It chooses nothing: which providers there are is the caller's business.
//
// The package imports canvas, canvas/web, canvas/mcp, session, channels,
// channels/server, ahp/proof, ahp/ws, ahp and google/uuid.
package host
