// Package view is the host's side of view/1: how the pages of a canvas that has
// no server of its own take part in it (canvas.md section 4; canvas/web defines
// the messages as a page speaks them).
//
// # What it promises
//
// A provider's instance embeds a [Pages] and has by it Invoke, Message, ViewGone
// and Close of canvas.Instance and canvas.Messenger.
//
//   - An action goes to exactly one View: the earliest that said hello and lives.
//     Where there is none, it waits for one.
//   - It is never sent twice. A View that goes away, or says bye, with an action
//     in flight fails it with canvas_provider_unavailable: whether it happened is
//     not known, so that nobody but the agent may repeat it.
//   - An answer counts only from the View that was asked, once, and while the
//     caller waits. Ids are not guessable either, so that a View which may not
//     answer cannot learn what is asked of another.
//   - A page's own error code passes through where it looks like one, and becomes
//     canvas_handler_error where it does not. Messages are cut at 4 KiB.
//   - Reload asks every View, or the named ones, to load its page again, keeping
//     its scroll position. A renderer that does not know the message ignores it.
//   - What a page sends without the tag goes to Options.OnMessage, in order.
//
// # Deadlines
//
// An action gives up a moment (a twentieth of the time that is left, at most
// 250 ms) before its context's deadline: the host drops what comes at the
// deadline, and the agent would not hear whether no page has the canvas open or
// one does and did not answer. Both are canvas_timeout.
//
// # Ownership and bounds
//
// Pages has no goroutine. Its mutex is a leaf: nothing is called while it is
// held. 64 actions are in flight or wait at a time; Views are as many as the host
// lets subscribe. Nothing is logged.
//
// A Pages belongs to one handle. A provider that is asked to open again while
// OpenRequest.Current is there returns that, for the pages say hello only once;
// an instance that comes back from being stale gets a new handle and a new Pages.
//
// The package imports canvas and ahp.
package view
