// Package chat keeps the chat of a session, for clients of AHP 0.9 and later, which show
// a session by its chats. This host runs no agent: a person's message is passed to
// Options.Prompt, and the turn that it starts is answered at once.
//
// # What it promises
//
//   - A session has one chat. It exists from its first subscriber until the session ends,
//     in memory only.
//   - Each turn is complete in the transaction that starts it, so no client waits for it.
//   - A chat keeps its newest [MaxTurns] turns.
//   - Only connections with the capability [Capability] see chats. Clients cannot declare
//     it: the server adds it to connections of a later version.
//
// It imports ahp, channels and session.
package chat
