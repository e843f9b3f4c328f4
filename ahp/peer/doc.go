// Package peer turns a WebSocket into an ordered, bounded, typed JSON-RPC peer.
// Both sides of a connection are one: the host's and the Go client's.
//
// # The law of order
//
//   - Handle is called in the order of arrival, one call at a time. The reader
//     waits neither for a handler nor for a writer. A handler that says that it
//     never waits (Options.Prompt) is called by the reader itself, and then answers
//     that are taken with [Peer.CallThen] are in the same order.
//   - Frames leave in the order in which they were pushed or answered, except
//     content results above 32 KiB: they follow in a lane of their own, one
//     being written at a time, when nothing else is queued. A frame that was
//     queued before the writer took such a result is never behind it.
//   - What goes to many peers may be published and not pushed yet: whatever is one
//     peer's alone, its end too, calls Options.Before first, and so is behind it. As
//     a [Shared] it is framed once for all of them.
//   - A message that could not be read is answered in its place in that order.
//   - An answer that is given in Handle leaves when Handle returns, or before.
//   - When the connection ends, calls fail first, then what was read before is
//     handled, then [EndHandler] is told, then Done is closed.
//
// # What the stream answers itself
//
// The connection lives on after each of these.
//
//   - -32700, id null: not one JSON value; invalid UTF-8 (lone surrogates
//     included); a duplicate member at any depth; deeper than 64; more than
//     16,384 values, where what is inside a member named inputSchema counts
//     apart.
//   - -32600: a batch; no object; an id that is neither number nor string (null
//     included) or is longer than 256 bytes, with id null; no method or one that
//     is no string; another version than "2.0"; a method beside a result or an
//     error; params that are null or scalar. The id is echoed where it can be
//     read, as its raw token: 1.0 stays 1.0.
//   - -32602: params by position. It is a valid request, but no method here
//     takes an array.
//   - Nothing: a notification, whatever is wrong with it once its method is a
//     string (counted), and an answer to no call (counted). An answer that is
//     malformed fails its call.
//
// Member names match by case: "Method" is an unknown member, and those are
// ignored. An answer has exactly one of result and error; a null result is
// explicit.
//
// # Payloads
//
// A result may be one long string with little around it: the content of a
// resource. [Peer.CallPayload] names where such a string stands; it is checked
// and decoded while it arrives and handed over beside the result, in which an
// empty string stands in its place. That is judged as the whole message would
// be. It needs an answer whose id stands before its result, as everybody writes
// it, and whose string begins within the first 4 KiB; any other result is
// handed over whole.
//
// # Bounds
//
// Outgoing bytes (a typed close, CodeSlow), messages that wait to be handled,
// tasks and content reads that wait, both by number and by bytes, messages a second,
// and calls left unanswered (CodePolicy), calls in flight (the rest waits, then
// [ErrBusy]).
//
// # Who is prompt
//
// The Go client is: it has one order of all that the host says, and one wake of a
// thread less at each message. The host would be, but what runs on the reader
// grows its stack for as long as the connection lives: 4 KiB of the 11 that an
// idle one may hold.
//
// # Ownership
//
// A Peer owns its Conn. Goroutines: the reader and one that waits for the end
// (both jsonrpc2's); a runner, a writer and tasks, which exist only while there
// is work and which Wait waits for. All locks are leaves: nothing is called,
// logged or waited for under them.
//
// One at a time has the writer's role. Over a bare socket, the runner and a
// caller take it where they hold no lock, and write at once what they have queued,
// as far as the socket takes it without a wait: a wake of another thread costs
// more than the write. Pushes come from under locks, so they leave it to the
// flushers, as many goroutines of the process as there are processors, which
// write for one connection after the other. Where a socket takes less than there
// is, and where there is none (TLS, tests), a goroutine of the peer's own waits.
//
// A handler that panics takes the process down; it is not recovered.
//
// # How jsonrpc2 is used
//
// sourcegraph/jsonrpc2 keeps the table of outgoing calls. Its codec decodes a
// message three times and encodes ids and params anew, so bytes travel beside it
// (see stream), and of answers it decodes a connection's first alone (see shown);
// its Handle runs on the read loop, so requests never reach it.
//
// The package imports ahp, ahp/scan, ahp/ws, sourcegraph/jsonrpc2, and segmentio/asm
// for base64.
package peer
