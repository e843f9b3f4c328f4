// Package dialect lets clients of AHP 0.9, 0.10 and 1.x use a host whose own protocol is
// 0.5 and 0.6. A dialect is a projection at the edge of a connection: the log, the methods
// and all other connections know nothing of it, and every byte that a 0.5 or 0.6 client
// receives stays what it was.
//
// # What it promises
//
//   - The version is negotiated by one table (versions.go). The host answers with the
//     string that the client offered, and a reconnect keeps the dialect.
//   - What a client receives is a function of the host's state, the dialect and the
//     spelling of session URIs, so a snapshot is what the actions before it lead to. Entries
//     without a form in the dialect are left out.
//   - A session has one chat (package session/chat), whose canvases are the session's open
//     ones, from 0.10 on. Canvases cannot be provided, messaged or closed from a dialect.
//   - Turns show canvases as links, and to editors as cards: pages that clients read with
//     resources/read (ahp/PROTOCOL.md section 15.6). Editors also have the open canvases as
//     artifacts of the session, in its _meta.
//   - A reconnect is answered with snapshots, never with a replay: a projection begins with
//     a state.
//
// A client of the host's version that declares capabilities.canvas.direct gets a small
// dialect (direct.go): the url of a canvas is the address at which it can show it.
//
// # Spellings
//
// Clients name a session ahp-session:/ID or, if they take the provider from the scheme as
// VS Code does up to 1.141, canvas:/ID. Both are accepted; the connection is sent one. A
// chat is ahp-chat://default/ and the session's URI in base64url without padding.
//
// Each connection translates for itself, in its writer: the numbers of entries are its own,
// and so are the addresses, so no two connections receive the same bytes. That costs about
// 30 µs an entry (BenchmarkSend, on a core of a small server), of connections of later
// versions only; a frame that all connections of a dialect share would save a part of it.
//
// It imports ahp, ahp/ws (Grant), canvas, channels, channels/server, session and
// session/chat.
package dialect
