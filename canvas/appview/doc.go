// Package appview shows canvases inside the chats of MCP clients (MCP Apps, SEP-1865). A chat
// mounts one page, the shell, beside the result of open_canvas; the shell calls two tools of
// the agent's endpoint, which are [Apps.Read] and [Apps.Sync].
//
// # The shell
//
// [Apps.Page] is one HTML text for every canvas. It holds no secret and loads nothing. It
// reads the document of a canvas as one text and shows it in a frame with an opaque origin,
// which receives what a page gives a canvas: its input, the theme, messages. What cannot be
// shown in a chat is a card that says why, with a button that opens the canvas in its page.
//
// It is written as ES modules in the directory shell. After a change, run "go generate" here:
// the package embeds what esbuild makes of them in the directory built.
//
// # Tickets
//
// The shell acts for a person, and an agent must not. What distinguishes them is the ticket of
// a channel ([Apps.Ticket]): a host gives it to chats in the _meta of a result, which they keep
// from models. It is an HMAC of the channel, so it is valid as long as the channel lives, also
// over restarts if Options.Key is the same. A wrong ticket, a closed canvas and an absent one
// have one answer.
//
// # Views
//
// Each shell is a View of its canvas (package attach). It ends with a bye, or [Lease] after its
// last call. Messages to it are numbered and kept until a later call confirms them, so a lost
// answer loses nothing; messages from it carry a sequence number, so a call that is repeated
// sends nothing twice. If it misses too many, it is attached again and learns that it lost
// messages.
//
// # Limits
//
// [MaxViews] Views, [MaxViewsOfCanvas] of one canvas; [MaxKept] messages or [MaxKeptBytes]
// kept for one; [MaxSay] messages in one call, 100 a second. Two documents are linked at a
// time.
//
// # Ownership
//
// The package starts no goroutine. [Apps.Close] ends all Views; calls that wait return.
//
// The package imports canvas, canvas/attach, session, ahp and golang.org/x/time.
package appview
