// Package extension runs canvas extensions: Node programs that declare canvases
// over JSON-RPC on their standard streams and start an HTTP server for each open
// canvas. Published extensions run unchanged (canvas/PROTOCOL.md section 12).
//
// # Guarantees
//
//   - Each extension has at most one process per session. The environment variable
//     SESSION_ID names the session: its URI without the scheme ("default").
//   - When a process ends, its open canvases become stale at once and its pending
//     requests fail. Canvases of other processes are not affected. The runner starts
//     the process again, after 0.25 s at first and at most 10 s, and then reopens its
//     canvases.
//   - Opening a canvas of an extension that does not run fails with the last lines of
//     the extension's standard error.
//   - A request is sent at most once. A response after the deadline is dropped; a
//     canvas that the extension opened too late is closed again.
//   - No process and no child of one outlives [Runner.Close], except a child that
//     leaves its process group.
//   - An extension shows only its own server: a loopback URL at which another process
//     listens is refused.
//   - An extension cannot block the host: its output is limited and always read, and
//     its unread input is limited too.
//
// # Processes and sessions
//
// An agent must know the declarations before it opens a canvas, and only a running
// extension can declare them. So the process of one session (Options.Session, the
// host's default session) starts with the host, declares for all sessions, and lives
// as long as the host. The process of another session starts when that session first
// opens one of the extension's canvases, and ends a minute after the last one closed.
// Starting every extension for every session would start 22 processes of 40 MB for
// each new session, most of them unused, and reach the limit of 64 processes at the
// third session.
//
// Each extension has one registration for all sessions. The package never calls
// SetReachable(false) on it: that would mark the canvases of every session stale
// because one process ended, and opening would fail without the extension's error
// output. Instead, a lost process calls [canvas.Handle.MarkStale] for each of its
// canvases.
//
// An extension that fails before its first declaration is listed with a placeholder
// canvas, whose id is the extension's id. Opening it fails with the reason. Without
// the placeholder, the agent would only learn that the canvas does not exist.
//
// # The wire
//
// The wire is JSON-RPC 2.0 with Content-Length headers. sourcegraph/jsonrpc2 matches
// responses to requests, and its VSCodeObjectCodec encodes messages. In front of it are
// a reader that limits headers and bodies (frames.go) and an outbox that never blocks
// its callers (wire.go). The process survives an invalid body, which is answered with
// an error; if the body was a response, the request that waits for it fails with that
// error. An invalid header ends the process. Text between messages, such as the output
// of console.log, goes to the extension's log.
//
// Version 1.0.14 of the published SDK reports an action without a handler as an error
// without a code. The package gives it the code canvas_handler_error and keeps the
// SDK's text.
//
// The host serves connect, session.resume, session.send, session.log,
// session.metadata.snapshot and session.usage.getMetrics. It runs no agent, so it
// rejects every other request. An extension's sendAndWait sends
// session.send and then waits for the end of an agent's turn, which this host never
// reports; the call ends with the extension's own timeout.
//
// # Events for the agent
//
// A prompt becomes the event {"type":"extension.prompt","extensionId","prompt",…}, and
// a log line becomes {"type":"extension.log","extensionId","level","message"}. Events
// keep the order in which the extension sent them. They belong to the session and have
// no instanceId, because the wire does not name a canvas.
//
// # Process environment and lifetime
//
// An extension runs as the user, with all of the user's permissions; it is not
// sandboxed. Its environment is the host's without variables that begin with
// AHP_CANVAS_. Package process starts it as the leader of a group, ends the group, and has
// its log, which also gets the text between messages. Nothing of it goes to the host's log.
//
// # Concurrency
//
// Runner.mu guards extensions, workers (an extension in a session) and their open
// instances. The package makes no calls to the host or to processes while it holds
// Runner.mu. Each worker has one goroutine, which owns the worker's processes one after
// the other. A process has goroutines that wait for its exit, read its standard error,
// read its messages and write to it; the process is over when all of them have ended.
//
// The package imports canvas, canvas/process, canvas/provider/loopback, ahp,
// sourcegraph/jsonrpc2, cenkalti/backoff and gopsutil.
package extension
