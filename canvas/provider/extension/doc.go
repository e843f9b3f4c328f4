// Package extension runs canvas extensions: Node programs that declare canvases
// over JSON-RPC on their standard streams, and serve each open one from an HTTP
// server of their own. Those that are published today run here unchanged
// (canvas/PROTOCOL.md section 12).
//
// # What it promises
//
//   - One process per extension and session. It is told which session by SESSION_ID,
//     which is the session's URI without its scheme ("default").
//   - A process that ends makes its session's open canvases stale at once, and only
//     those; requests that wait for it fail. It is started again, after a
//     quarter of a second at first and ten at most, and what was open is opened again.
//   - Whoever opens a canvas of an extension that does not run is told why in the
//     extension's own words: the last lines of its standard error.
//   - A request is sent once or not at all. What the extension answers after the
//     deadline is dropped, and a canvas that it opened too late is closed again.
//   - No process outlives [Runner.Close], nor do its children.
//   - Nothing that an extension does holds up the host: what it writes is bounded and
//     always read, what it does not read is bounded too.
//
// # Which process runs when
//
// Declarations are known to an agent before it opens anything, and only a running
// extension says them. So the process of one session (Options.Session, the host's
// default one) starts with the host and declares for all sessions, and lives as
// long as the host. Another session's process starts when that session first opens
// one of the extension's canvases, and ends a minute after its last one closed.
// The other way (a process of each extension for each session, at once) would
// start 22 processes of 40 MB each time a session is made, most of them
// for nothing, and use up the limit of 64 at the third session.
//
// There is one registration an extension, for all sessions, and its
// [canvas.Registration.Gone] is never called: it would take the canvases of every
// session along with one session's process, and opening would be answered
// without the extension's words. A process that is lost says
// [canvas.Handle.Gone] of each of its own canvases instead.
//
// An extension that has not said yet what it declares, because it failed to start,
// is listed with one canvas that has the extension's own id. Opening it fails, with
// the reason; without it the agent would only hear that there is no such canvas.
//
// # The wire
//
// JSON-RPC 2.0 with Content-Length headers. sourcegraph/jsonrpc2 keeps the table
// of calls and its VSCodeObjectCodec encodes; before it stand a reader that
// bounds headers and bodies (frames.go) and an outbox that never makes anybody wait
// (wire.go). A body that is no message is answered with an error and the process lives
// on, and where it was meant as an answer, who asked has that error instead; a header
// that is none ends it. Text between messages is what an extension
// printed with console.log: it goes to the log.
//
// Version 1.0.14 of the published SDK answers an action that has no handler without
// a code: it is canvas_handler_error then, with the SDK's text.
//
// The host answers connect, session.resume, session.send and session.log, and
// nothing else: there is no agent here that it could ask. An extension's
// sendAndWait sends with session.send, and then waits for the end of a
// turn that this host never sees: it ends with the time-out of its own.
//
// # What an extension tells the agent
//
// A prompt becomes the event {"type":"extension.prompt","extensionId","prompt",…},
// a log line {"type":"extension.log","extensionId","level","message"}, in the order in
// which they were said. The wire does not say which canvas they are about: they are
// events of the session, without an instanceId.
//
// # What it runs with
//
// An extension runs as the user, with all that the user may do: this is no
// sandbox. Its environment is the host's without what begins with AHP_CANVAS_. It
// leads a process group. At its end its standard input is closed, the group
// gets SIGTERM after half a second and SIGKILL two seconds later; after a crash what is left
// of the group is killed at once. On Linux the kernel kills the leader
// when the host is killed (PR_SET_PDEATHSIG, set by one thread that lives as long as
// the runner); its children then have their closed standard input only. A child
// that leaves the group is not found. On Windows the group is a job, which
// is ended after half a second, without a SIGTERM, and ends with the host however
// that ends.
//
// # Its log
//
// Standard error, and what is printed between messages, is kept in a file an extension of
// at most 512 KiB (two of 256 KiB, the older one goes). A goroutine reads it into a
// ring of 64 KiB and another writes that to disk, twenty times a second at most: a
// flood, or a disk that stands still, loses lines (the log says how many bytes) and stops
// nobody. None of it goes to the host's log. It is a file and no request to the
// host, so that it can be read while the host is busy, and after it crashed.
//
// # Who guards what
//
// Runner.mu guards extensions, workers (an extension in a session) and what they
// have open. Nothing is called while it is held. Each worker has one goroutine that
// owns its processes, one after the other; a process has goroutines for its end, its
// standard error, its reader and its writer, and is over when all have ended.
//
// It imports canvas, canvas/loopback, ahp, sourcegraph/jsonrpc2,
// cenkalti/backoff, and golang.org/x/sys on Windows.
package extension
