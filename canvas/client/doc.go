// Package client is the Go client of an AHP host: it dials, opens the
// connection, follows channels in a mirror, dispatches actions and calls
// methods. It applies the very reducers of the host to what the host says.
//
// # Confirmed state
//
// The mirror holds what the host has published, and nothing else: an action
// that this client dispatched changes it when its echo arrives, never before.
// States are values: what [Client.State] or an [Event] hands out is never
// changed afterwards and must not be changed by its reader.
//
// # Order
//
// Envelopes and the answers that carry state are taken one at a time, in the order
// in which they came, by the connection's reader. It follows that
//
//   - a [Watch] sees actions in the order of serverSeq, across channels, and
//     each event carries the state that it led to;
//   - when [Client.Subscribe] or [Client.Dispatch] has returned without an
//     error, the mirror holds the snapshot, or what the action did;
//   - what a Subscribe brings is an event between what came before and after it;
//   - a serverSeq that does not rise is never applied. Neither is a known action
//     that cannot be read or reduced: the mirror would no longer be the host's
//     state. The connection is closed with a [*ProtocolError], and the next
//     Reconnect starts afresh.
//
// What comes before the answer to the handshake is dropped, or refused where it is
// a request: it belongs to nothing that the client knows.
//
// Actions of types that the client does not know change nothing and are events
// without a decoded action; refused ones change nothing, whoever sent them.
//
// # A connection that is lost
//
// Calls and dispatches in flight fail at once, with the reason, and are never
// sent a second time: whether the host still did what was asked is unknown, and
// the mirror will tell. The mirror stays as it was, and so do watches. Nothing
// can be asked until [Client.Reconnect] has resumed: the host replays what was
// missed, and watches see it as if nothing had happened; or it sends snapshots,
// and watches see an [EventSnapshot] for each channel; or it does not know the
// client any more and is asked to initialize on the same socket, with the same
// subscriptions. Channels that are gone are an [EventGone].
//
// With Options.Backoff a goroutine of the client calls Reconnect whenever the
// connection is lost, after a wait that grows from attempt to attempt: with
// [NewBackoff] about half of the time that the host has been away, between 0.1
// and 7.5 s. A connection that lasted 2 s begins them anew. That a relay says
// "host offline" is an attempt like another. It ends with Close, or with a
// [*GivenUp], which all watches then end with, where no attempt can succeed.
//
// A host that is gone leaves its port to anybody. So Reconnect sends the token to a
// host that has proven itself before only where it proves itself again, on the same
// socket and within five seconds; otherwise it fails with [ErrUnverified], and the
// next attempt asks again. A host that was started anew with other tokens is such a
// stranger, too. Dial asks as well, and refuses nobody: it learns whether the host is
// one that proves. That is so on plain ws at the path /ahp. On wss the certificate
// says who it is; at a relay, whose clients' tokens are not the host's, and with a
// token that stands in Options.Header nothing is asked. Package ahp/proof has the
// reasons.
//
// A client id may have several clients at a time. Refusals and echoes are told
// apart by the number of the dispatch alone, so two of one id that dispatch to
// one channel at a time can take each other's echo for their own.
//
// # Providing canvases
//
// A client with Options.Provider declares canvases with [Client.Provide] and is
// asked for them by the host (#297 sections 2 and 5). Requests of one instance
// run one after the other in the host's order, off the reader, at most 32 of all
// at a time and two content reads; each has a context that ends with its
// connection and after Options.Timeout. Instances outlive connections: the host
// opens them again when the client is back, and Open is given the one that there
// is. What the host closed meanwhile is closed after the resume, and what is
// left by Close. What was declared is declared again only where the resumed
// session does not hold it. No request is answered on another connection than
// it came on, and a resume waits until all of the old connection have returned.
//
// # Bounds and ownership
//
// A client owns one connection, whose goroutines [Client.Close] and Reconnect
// wait for; of its own it starts a timer for each dispatch, the goroutine that
// reconnects, and one for each instance that ends after a resume, and Close waits
// for these too. Everything that waits is bounded: calls and incoming requests
// and messages by package peer, dispatches without an echo by Options.Dispatches,
// a watch that is not read by Options.WatchBytes, after which it ends with
// [ErrOverflow] while everything else goes on.
//
// A watch and not a callback: a callback would run where the host's messages
// are taken, where nothing may be asked and waited for, and "a canvas was
// opened, so subscribe to it" is the first thing that everybody wants to do.
//
// The package imports canvas, session, ahp/peer, ahp/proof, ahp/ws, ahp,
// cenkalti/backoff, and segmentio/asm for base64 and UTF-8.
package client
