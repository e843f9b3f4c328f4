// Package mcpapp makes tools of MCP servers canvases: a tool with a UI resource (MCP Apps,
// SEP-1865, stable 2026-01-26) is a canvas whose page is that resource.
//
// # Guarantees
//
//   - A server has one connection for all sessions: a program on standard streams, or a
//     streamable HTTP endpoint. When it is lost, the server's canvases are stale at once; the
//     runner connects again, after 0.25 s at first and at most 10 s, and they show what they
//     showed before.
//   - A tool is called once for an open, and once for each open again with other input. A
//     restart of the host or the server calls nothing. Nothing that was sent is sent again.
//   - A page calls only tools of the same server whose visibility has "app", in the list at the
//     time of the call. Unknown and forbidden tools have one answer, and the server sees nothing.
//   - A page reaches no other origin, unless its resource declares it and the operator
//     allows it (package allow). It gets no camera, microphone, location or clipboard. The
//     card names what it asked for and did not get.
//   - What a page says to the agent is an event whose type begins with "app.": it cannot be
//     taken for a person's words.
//   - Environment and headers of a server are in no log, error, declaration or state. A
//     header goes to the server's own origin alone, and no redirect is followed.
//   - No program and no child of one outlives [Runner.Close] (package process).
//
// RULES.md lists the rules and the threats, also those of package appview, with their tests.
//
// # Declarations
//
// Tools that agents may call and that have no UI are actions of each canvas of the server.
// The server panel, a canvas with the server's name, has them too, and shows the server's
// state, its last calls and the end of its log. A server that does not run declares that name
// alone, until it has listed its tools for the first time; opening it returns the reason.
//
// # Opening
//
// The page is read before the tool is called, so an open that cannot be shown has had no
// effect. Defaults of the tool's schema are filled in. The open is answered after the result,
// or after 10 s without it; a later result is the event "app.result". What the canvas shows is
// kept with [canvas.Handle.Save], at most 240 KiB.
//
// # The page
//
// The wrapper (page/host.js) is the host side of the protocol for one View, which it frames
// at /-/view. Both have the canvas's content origin and count as one party: whatever the
// wrapper may do, a hostile View may do, so limits and rules are here in Go, and in the
// renderer. The wrapper talks to the provider by http/1:
//
//	GET  /-/view     the View's document, with its policy
//	GET  /-/opening  the tool, its arguments and its result
//	POST /-/rpc      a JSON-RPC request of the View to the server
//	POST /-/say      ui/message, ui/update-model-context, notifications/message
//
// and by messages: {"app":"result","generation"} and {"app":"teardown","id"} to pages,
// {"app":"here"} and {"app":"torn","id"} from them.
//
// # Ownership
//
// Each server has one goroutine, which owns its connections one after the other. A
// connection ends with its goroutines before the next begins. Calls that outlive an open or
// an action, and the end of an instance's requests, are goroutines that Runner.Close waits
// for. Nothing is called while Running.mu or instance.mu is held.
//
// The package imports canvas, canvas/bridge, canvas/outbound, canvas/process, canvas/view,
// ahp, the MCP go-sdk and cenkalti/backoff.
package mcpapp
