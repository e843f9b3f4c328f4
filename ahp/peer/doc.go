// Package peer turns a WebSocket into an ordered, bounded, typed JSON-RPC
// connection. The host and the Go client both use it.
//
// # Order
//
//   - Handle is called in the order of arrival, one call at a time. The reader
//     waits neither for a handler nor for a writer. With Options.HandleOnReader the
//     reader calls Handle itself, and results taken with [Peer.CallThen] are in the
//     same order as requests.
//   - Frames are written in the order in which they were pushed or answered, except
//     content results above 32 KiB. Those have a separate queue: one at a time
//     is written, when no other frame is queued. It never overtakes a frame that
//     was queued before the writer took it.
//   - Frames for many peers might be published before they are pushed. Before the
//     peer queues a frame for itself alone, or closes, it calls Options.FlushShared, which
//     pushes them. A [Shared] is framed once for all its peers.
//   - The error for an unreadable message is sent in the place of its answer.
//   - An answer given inside Handle is written when Handle returns, or before.
//   - When the connection ends, calls fail first. Then the messages that were read
//     before are handled, then [EndHandler] is called, and then Done is closed.
//
// # Messages that are answered without Handle
//
// The connection stays open after each of them.
//
//   - -32700 with id null: not one JSON value; invalid UTF-8, which includes lone
//     surrogates; a duplicate member at any depth.
//   - -32700 with the message's id, if it can be found: deeper than 64; more than 16,384
//     values, not counting those inside a member named inputSchema. An answer beyond
//     these limits fails its call.
//   - -32600: a batch or any other value that is no object; an id that is neither
//     number nor string, or longer than 256 bytes (both with id null); a missing
//     method, or a method that is not a string; a version other than "2.0"; a method beside
//     a result or an error; params that are null or a scalar. The id is repeated
//     exactly as it was sent: 1.0 stays 1.0.
//   - -32602: params by position. JSON-RPC allows them, but no method here has any.
//   - No answer: an invalid notification, if its method is a string, and an answer
//     to no call. Both are counted. A malformed answer to a call fails the call.
//
// Member names are case-sensitive. Unknown members, such as "Method", are ignored.
// An answer has either a result or an error. A null result is explicit in the answers
// of this package. A message with the id of a call and without a method is its answer,
// even without a result: null is the result then, because clients in JavaScript omit
// the result of a handler that returns nothing.
//
// # Payloads
//
// The content of a resource is a result with one long string and little else.
// [Peer.CallPayload] names the place of such a string. The string is checked and
// decoded while it arrives, and returned beside the result, which has an empty
// string in its place. Errors are the same as for the whole message. This works if
// the answer's id precedes its result, and the string begins within the first 4
// KiB. Any other result is returned whole.
//
// # Limits
//
// Limits cover outgoing bytes (CodeSlow), messages that wait to be handled, tasks
// and content reads that wait, each by number and by bytes, messages per second,
// and unanswered calls (CodePolicy). A peer that exceeds one of them is closed.
// Calls above the number in flight wait, and then fail with [ErrBusy].
//
// # Memory
//
// A peer with an account (package budget) counts messages above 4 KiB while they arrive
// and until they are handled, and its queue from 64 KiB on. If the budget is used up, a
// message waits in the socket for up to 10 s, and then the connection is closed with
// CodeTryLater. While many answers to initialize, reconnect and subscribe wait to be
// written, nothing is read.
//
// # Handling on the reader
//
// The Go client sets Options.HandleOnReader. It needs one order of all messages,
// and saves waking another thread for each. The host does not: handlers grow the
// reader's stack for as long as the connection lives, by 4 KiB of the 11 KiB that an
// idle connection may use.
//
// # Goroutines
//
// A Peer owns its Conn. Two of jsonrpc2's goroutines live as long as the
// connection: the reader and one that waits for the end. A runner, a writer and
// tasks exist only while there is work. Wait waits for all of them. All locks are
// leaves: while one is held, nothing is called, logged or waited for.
//
// One goroutine at a time has the writer role. On a bare socket, the runner and
// callers take it when they hold no lock, and write their frames at once if the
// socket takes them without waiting, because waking another thread costs more than
// the write. Push can be called under locks, so it leaves writing to the flushers, a
// pool of goroutines that all connections share. If the socket would block, or if
// there is none (TLS, tests), a goroutine of the peer writes and waits.
//
// A panic in a handler is not recovered and ends the process.
//
// # Use of jsonrpc2
//
// sourcegraph/jsonrpc2 keeps the table of outgoing calls. Its codec would decode a
// message three times and encode ids and params again, so the bytes bypass it (see
// stream), and it decodes only a connection's first answer (see answerCopier). It
// would handle requests on its read loop, so they bypass it, too.
//
// The package imports ahp, ahp/budget, ahp/heavy, ahp/scan, ahp/ws, sourcegraph/jsonrpc2, and
// segmentio/asm for base64.
package peer
