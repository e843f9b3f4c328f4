// Package mcp is the agent's endpoint: a fixed set of MCP tools over one canvas service
// (canvas/PROTOCOL.md section 7). It has no state, so a call of a tool and
// the corresponding call of the Go API have the same effect.
//
// # The tools
//
// The tools are list_canvas_capabilities, open_canvas, invoke_canvas_action,
// list_open_canvases, close_canvas, wait_for_canvas_events and look_at_canvas. A canvas's actions are
// data in the result of the first one and not tools, so the set stays the same when
// providers come and go. That result is short: names, one line each, actions by name.
// Its argument describe asks for the schemas and examples of one canvas.
//
// wait_for_canvas_events is a long poll with a cursor and not a notification, because a
// model acts only when it calls. Its timeout is in seconds, and limited by
// Options.MaxWait; canceling the call ends the wait. Without a
// cursor it begins at the last open_canvas, so that an agent that asks a new question
// does not receive the answer to an old one. Events are in memory only: after a restart
// the host has none, and the cursor begins at 0.
//
// # Results
//
// Each result has structured content and two text blocks: a sentence about what happened
// and what to do next, and the structured content as JSON. MCP asks for the second block
// for clients that do not know structured content. It also has the exact digits of each
// number, for clients whose JSON numbers are float64 ([Structured]).
//
// A failed operation is a result with isError and the structured content
// {code, message, path?, rule?, candidates?}. A JSON-RPC error means that the request was
// not a call of one of these tools. The tools declare no output schema, because clients
// would validate error results against it.
//
// # Arguments
//
// Arguments are decoded strictly from the received bytes: an unknown or repeated
// argument, or one of the wrong type, is canvas_input_invalid with its path. null is the
// same as absent if the argument is optional.
//
// # Ownership
//
// A [Server] owns its MCP sessions. A session ends when its client ends it, after
// Options.SessionTimeout without a request, when it has no active call and a new one needs
// its place (Options.MaxSessions), or with [Server.Shutdown], which first
// answers the active calls (those that wait for events at once, with the available
// events). A call's context is canceled if its client cancels it or ends its session, or,
// from MCP 2026-07-28 on, if its connection is lost. The MCP library's log is discarded,
// because it would repeat what clients send.
//
// # Clients
//
// A [Client] calls the tools of a host over HTTP. [Client.Proxy] makes it a Server, so
// that an agent on standard streams can use a host elsewhere; tools of newer hosts work
// too. A Client connects directly, without a proxy ([NewTransport]), and does not send
// its token to another program that took over the host's port (package ahp/proof).
//
// # Access
//
// The endpoint checks neither the token nor the Host header: canvas/host does that
// first. It refuses requests of other web origins and bodies above Options.MaxBody.
//
// The package imports canvas, session, ahp/proof, ahp and the MCP library.
package mcp
