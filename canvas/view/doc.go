// Package view is the host's side of view/1: how the pages of a canvas without a server
// take part in it (canvas/PROTOCOL.md section 4). The messages are described in
// canvas/web and testcases/PORTING.md.
//
// # Guarantees
//
// A provider's instance embeds a [Pages], which has the methods Invoke, Message, ViewGone
// and Close of canvas.Instance and canvas.Messenger.
//
//   - An action goes to exactly one View: the earliest that said hello. If there is none,
//     the action waits for one.
//   - An action is never sent twice. If its View disconnects or says bye, it fails with
//     canvas_provider_unavailable: it may have been done, so only the agent can decide to
//     repeat it.
//   - An answer counts only from the View that was asked, once, and while the caller
//     waits. Ids are hard to guess, so a View cannot answer for another one.
//   - A page's own error code is passed on if it is valid, and is canvas_handler_error
//     otherwise. Error messages are cut at 4 KiB.
//   - Reload asks all Views, or the named ones, to reload their page and keep its scroll
//     position. A renderer that does not know the message ignores it.
//   - Options.OnMessage receives a page's other messages in order.
//
// # Deadlines
//
// An action ends shortly before its context's deadline: by a twentieth of the remaining
// time, at most 250 ms. At the deadline the host stops waiting, and the agent would not
// learn whether no page has the canvas open, or whether one did not answer. Both are
// canvas_timeout.
//
// # Ownership and limits
//
// Pages has no goroutine. Nothing is called while its mutex is held. Up to 64 actions can
// be in flight or waiting; the host limits the Views. Nothing is logged.
//
// A Pages belongs to one handle. If OpenRequest.Current is set, the provider must return
// that instance, because its pages say hello only once. An instance that was stale gets a
// new handle and a new Pages.
//
// The package imports canvas and ahp.
package view
