// Package attach shows canvases in this process: a [View] is subscribed to a canvas's
// channel as a page is, without a socket.
//
// It is an ordinary subscriber. It receives entries in the order of the log, what it says
// passes the same checks as a page's dispatch, the provider knows it by its connection and
// receives ViewGone when it is closed.
//
// # Limits
//
// What a View has not taken yet is limited in bytes and in count. Beyond that the View is
// over: [View.Poll] and [View.Next] return [ErrOverflow], and the caller attaches again. As
// on a socket, no entry is dropped from a View that stays open.
//
// # Ownership
//
// The package starts no goroutine. The caller of [Attach] must call [View.Close].
//
// The package imports canvas, channels, ahp/access and ahp.
package attach
