// Package remote connects to A2UI agents that speak A2A: each is an [a2ui.Agent].
//
// It speaks A2A 1.0 and 0.3 by JSON-RPC, with server-sent events if the agent streams.
// The agent's card says which. An agent at a ws or wss URL needs no card and no A2A: each
// text frame is one JSON message.
//
// # Guarantees
//
//   - Only the configured origin receives requests, and the token. A redirect, or a card
//     that names another origin, fails the turn. Proxies of the environment are not used.
//   - Plain http and ws work for localhost, 127.0.0.1 and [::1] alone, and their
//     connections stay on this machine.
//   - A turn is sent once. It ends with the agent's answer, if the context is canceled, or
//     if the agent is silent for too long (a2ui_agent_silent).
//   - A stream that breaks off keeps what has arrived completely; its last state is
//     "interrupted".
//   - Everything that is read is limited ([Limits]).
//   - Errors are *a2ui.Error. They contain statuses and codes, but no URL, no token and no
//     text of the agent.
//
// # Ownership
//
// Send reads in the goroutine of its caller. An agent at a socket also has a connection
// for each conversation, whose reader ends with Close.
//
// The package imports canvas/provider/a2ui, ahp and ahp/ws.
package remote
