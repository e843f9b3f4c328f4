// Package mcp is the agent's door to the canvases: a fixed set of MCP tools over
// the one canvas service (canvas.md section 7). It holds no state of its own, so
// what an agent does through it and what the Go API does are the same thing.
//
// # The tools
//
// list_canvas_capabilities, open_canvas, invoke_canvas_action,
// list_open_canvases, close_canvas and wait_for_canvas_events. What a canvas can
// do is data in the first one's answer, never a tool of its own: the set stays
// the same while providers come and go.
//
// wait_for_canvas_events is a long poll with a cursor, and not a notification:
// a model acts when it calls. Its time is in seconds and bounded by
// Options.MaxWait; who gives the call up ends the wait. Events are in memory
// only: a host that is started again begins with an empty ring and the cursor 0.
//
// # Answers
//
// Every answer carries structured content and two text blocks: a sentence that
// says what happened and what to do next, and the structured content as JSON.
// The second block is what MCP asks of servers for clients that know no
// structured content, and it is exact: clients in languages where a JSON number
// is a float64 find every digit there ([Structured]).
//
// A failed operation is a result with isError and the structured content
// {code, message, path?, rule?, candidates?}; a JSON-RPC error means that the
// request was no tool call of this door. The tools declare no output schema,
// because clients validate error results against it too.
//
// # Arguments
//
// They are decoded strictly, from the bytes that arrived: an unknown or a
// repeated argument, or one of the wrong type, is canvas_input_invalid with its
// path. null is as good as absent where the argument is optional.
//
// # Ownership
//
// A [Server] owns its MCP sessions. They end when their client says so, after
// Options.SessionTimeout without a request, or with [Server.Shutdown], which
// answers the calls under way first: those that wait for events at once, with
// what there is. A call that its client cancels, that is under way when the client
// ends its session, or whose
// connection ends where MCP says that this is the cancellation (2026-07-28), has
// its context cancelled. The library's own log is discarded: it would repeat
// what clients send.
//
// # The other side
//
// A [Client] enters a door over HTTP and calls its tools; [Client.Proxy] makes
// such a client a door again, so that an agent on standard streams works with a
// host elsewhere. It passes on what the host says, so a newer host's tools go
// through it too. It goes to its host itself, through no proxy ([NewTransport]), and
// to nobody who has taken its host's port: see package ahp/proof.
//
// # Who may
//
// The door checks no token and no Host: canvas/host does, before it. It does
// refuse requests of other web origins and bodies above Options.MaxBody.
//
// The package imports canvas, session, ahp/proof, ahp and the MCP library.
package mcp
