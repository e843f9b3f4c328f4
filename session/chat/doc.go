// Package chat keeps the chat of a session, for clients of AHP 0.9 and later, which show
// a session by its chats. This host runs no agent: a person's message is passed to
// Options.Prompt, and the turn that it starts is answered at once. When an agent opens a
// canvas, the chat gets a turn that shows it (Opened).
//
// # What it promises
//
//   - A session has one chat. It exists from its first subscriber until the session ends,
//     in memory only.
//   - Each turn is complete in the transaction that starts it, so no client waits for it.
//   - A chat keeps its newest [MaxTurns] turns. It begins with a turn for each open canvas.
//   - Its entries use no sequence numbers of the host: clients that know no chats see no gaps.
//   - No entry holds the address of a canvas: what the log keeps names canvases, and the
//     edge of a connection makes links and cards of that.
//   - Only connections with the capability [Capability] see chats. Clients cannot declare
//     it: the server adds it to connections of a later version.
//
// It imports ahp, channels and session.
package chat
