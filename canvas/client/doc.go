// Package client is a Go client for AHP hosts. It dials a host, follows channels
// in a mirror, dispatches actions, calls methods, and provides canvases. It uses
// the host's own reducers.
//
// # Confirmed state
//
// The mirror holds what the host has published: an action that this client
// dispatched changes it when the host's echo arrives, not before. The states in
// the mirror and in an [Event] are immutable; readers must not change them.
//
// # Order
//
// The connection's reader handles envelopes and the results that contain state one
// at a time, in the order of arrival. Therefore
//
//   - a [Watch] receives actions in the order of serverSeq, across channels, and
//     each event contains the state after it;
//   - after [Client.Subscribe] or [Client.Dispatch] has returned without an error,
//     the mirror contains the snapshot or the effect of the action;
//   - the snapshot of a Subscribe is an event in its place between the others;
//   - an envelope whose serverSeq does not increase is never applied. Neither is a
//     known action that cannot be decoded or reduced, because the mirror would no
//     longer equal the host's state. The client closes the connection with a
//     [*ProtocolError], and the next Reconnect starts from snapshots.
//
// Notifications before the result of the handshake are dropped, and requests are
// refused.
//
// Actions of unknown types change nothing and are events without a decoded action.
// Refused actions change nothing.
//
// # Lost connections
//
// Calls and dispatches in flight fail at once and are never repeated: the host may
// have executed them, and the mirror shows it after a resume. Only calls of methods that
// change nothing (ahp.MethodInfo.Safe) wait for the next connection and are sent again there,
// once, if the client has Options.Backoff. The mirror and the watches stay. Everything else
// fails until [Client.Reconnect] has resumed. The host then does one of the following:
//
//   - It replays what the client missed. Watches receive it as if the connection
//     had not been lost.
//   - It sends snapshots. Watches receive an [EventSnapshot] for each channel.
//   - It refuses to resume. The client sends initialize on the same socket, with the
//     same subscriptions.
//
// A channel that no longer exists is an [EventGone].
//
// A relay that is about to stop lets a client with Options.Backoff move (ahp/PROTOCOL.md
// section 2h): it opens another connection, resumes there, and keeps the old one until what
// was asked on it is answered. Nothing fails, is lost or is repeated; calls and dispatches of
// that moment are sent a little later. If one of the two connections fails meanwhile, the
// client reconnects.
//
// With Options.Backoff, the client calls Reconnect automatically, after a wait that
// grows with each failure. With [NewBackoff] the wait is about half of the time that
// the host has been unreachable, between 0.1 and 7.5 s. A connection that lasted 2 s
// resets it. The client stops when it is closed, and with a [*GivenUp] when no
// attempt can succeed; that ends all watches.
//
// When a host exits, another process can listen on its port. So once a host has
// proven that it knows the token, Reconnect sends the token only after the host has
// proven it again, on the same socket and within five seconds. Otherwise it fails
// with [ErrUnverified], and the next attempt verifies again. A host that was
// restarted with other tokens cannot be verified either. Dial only learns whether
// the host supports this. All of this applies to plain ws at the path /ahp: with
// wss, the certificate identifies the host; a relay has other tokens than the host;
// and a token in Options.Header is never verified. See package ahp/proof.
//
// Several clients can use one client id. The number of a dispatch alone identifies
// its echo, so two clients of one id that dispatch to one channel at the same time
// can mistake each other's echoes for their own.
//
// # Providing canvases
//
// [Client.Provide] declares canvases of a [canvas.Provider], the same value that a
// host registers (the Canvas proposal (#297), sections 2 and 5). The host then sends
// requests to open them, to invoke actions, to read content and to close.
//
//   - The requests of one instance run one at a time, in the host's order. Different
//     instances run concurrently: at most 32 requests, and two reads.
//   - The context of a request is done when its connection ends, and after
//     Options.Timeout. A request is never answered on another connection, and a
//     resume waits for the requests of the old one. So a provider may use the client,
//     but must not call Close or Reconnect.
//   - Instances outlive connections. After a resume the host opens them again;
//     OpenRequest.Current is then the instance, and OpenRequest.Saved is nil. The
//     client closes instances that the host has closed meanwhile, and [Client.Close]
//     closes the rest.
//   - Declarations that the host still has after a resume are not repeated.
//
// A [canvas.Handle] ends when its canvas or the client is closed. Update and Post
// wait until the host lists the canvas, subscribe to its channel, and wait for the
// echo. They fail while there is no connection, and while the canvas is stale. The
// host checks the limits: an update that breaks one is a [*Refused], or fails the
// open if it was made before Open returned. Opened.HTTP has no effect. Attention,
// Progress and OfferCopy do not wait: the newest values are sent when the host can take
// them, and again after a resume.
//
// A [canvas.Messenger] receives the messages of Views, because the client subscribes
// to its channel when the host lists the canvas, and after each resume. It does not
// receive them after [Client.Unsubscribe]; a host refuses them then. The View has a
// client id and no connection, so PostTo is unsupported. ViewGone is never called: a
// host does not report the end of a View to clients. Messages wait in a mailbox of
// 1 MiB for each instance. A client cannot refuse a message as a host does: it drops
// those above the limit and logs how many.
//
// # Limits and ownership
//
// A client owns one connection, whose goroutines [Client.Close] and Reconnect wait
// for. It also starts a timer for each dispatch, and goroutines that reconnect, that
// deliver the messages in a mailbox, that send what an instance announces, that
// subscribe for a Messenger, and that close
// an instance after a resume. Close waits for all of them. All queues are limited:
// calls, incoming requests and messages by package peer, dispatches by
// Options.Dispatches, and a watch by Options.WatchBytes. A watch above its limit ends
// with [ErrOverflow] and delays nothing else.
//
// Events come from a watch and not from a callback: a callback would run on the
// reader, where a call that waits for the host would block forever.
//
// The package imports canvas, session, ahp/peer, ahp/proof, ahp/seal, ahp/ws, ahp,
// cenkalti/backoff, and segmentio/asm for base64 and UTF-8.
package client
