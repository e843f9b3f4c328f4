// Package proof verifies that a host knows a token before the token is sent to it.
//
// When a host ends, any program on its machine can listen on its port. A client that
// reconnects would send its token to that program. So a host answers
//
//	GET /proof?at=NAME:PORT&nonce=HEX
//
// with one line for each of its tokens: the proof [Of] the token, name and nonce. It is
// an HMAC and does not reveal the token. The host proves nothing for addresses other
// than its own, so another program cannot get a proof by passing the request on
// (canvas/host). The page asks in canvas/web/page/proof.js, and programs use a
// [Verifier]. See ahp/PROTOCOL.md section 14.2.
//
// # What a Verifier promises
//
//   - Once a host has proven itself, it must prove itself on every later connection,
//     before the token is sent on that connection. Otherwise the connection is closed,
//     and the error is [ErrUnverified]. The host has five seconds.
//   - The first connection is never refused, because other AHP hosts have no /proof. It
//     tells the Verifier whether the host has one. The program that listens then is
//     trusted, as when a person opens a link.
//   - A server that accepts the request but does not answer costs two seconds, and half a
//     second on each later connection. It is asked every time, because a host might have
//     been busy. A host that needs longer is not verified on that connection.
//   - A server that answers 503 has too many connections. That answer teaches nothing, and
//     the next connection asks again.
//   - Nothing is asked over TLS, where a certificate identifies the host.
//   - Nothing is asked at a relay, which is any path except /ahp and /mcp. A relay's token
//     is not the host's, and a public relay is behind TLS. A relay on plain HTTP is not
//     verified: it has the hashes of thousands of tokens, and computing a proof for each
//     would let anyone keep it busy.
//   - A host that restarts with other tokens is unverified, because it looks the same as
//     another program to a client that has an old token.
//
// The package imports no package of this module. Package canvas/host answers; canvas/client
// and canvas/mcp ask.
package proof
