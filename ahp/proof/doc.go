// Package proof lets who holds a token see that a host knows it too, before the
// token is sent there.
//
// A host that has ended leaves its port to anybody on its machine, and who
// reconnects by himself would hand his token to that stranger. So a host answers
//
//	GET /proof?at=NAME:PORT&nonce=HEX
//
// with one line for each of its tokens, [Of] token, name and nonce: an HMAC, which
// tells nobody the token. It proves nothing for addresses that are not its own, so
// that a stranger who passes the question on gets nothing to pass back
// (canvas/host). The page asks in canvas/web/page/proof.js, programs with a
// [Door].
//
// # What a Door promises
//
//   - Once a host has proven itself, every later connection proves it too, on the
//     very socket that the token then goes over; one that does not is closed, and
//     the error is [ErrStranger]. It is waited for at most five seconds.
//   - The first connection is not refused: hosts of others have no /proof, and what
//     is said there is how a Door learns which kind this is. Whoever stands at the
//     address at that time is trusted, as by somebody who opens a link. One that takes
//     the question and never answers it costs two seconds, and half a second each time
//     after that: it is asked every time, for a host of ours may have been busy. A host
//     of ours that needed longer is known from the next connection on, and not guarded
//     before that: to wait for it beside the connection that has the token would need
//     somebody who owns the wait, and all that comes of it is known one connection
//     earlier, of a host that could not compute an HMAC in two seconds.
//   - Who answers 503 has too many connections just now (canvas/web.ConnLimiter): nothing is
//     learnt of him, and he is asked again the next time.
//   - Nothing is asked over TLS, where a certificate says who it is, nor at a relay
//     (any path but /ahp and /mcp): a relay's token is not the host's, a host cannot
//     prove what it does not know, and a relay that others reach stands behind TLS. A
//     relay on plain http at a port that a stranger can take is not guarded: it has
//     hashes of thousands of tokens (and another Authorizer might not even those), so
//     to answer everybody who asks with a line for each would be the cheapest way to
//     keep it busy, and to be asked for one of them needs a name for each token that
//     both sides have: in links, in files, in every Authorizer.
//   - A host that was started anew with other tokens is a stranger too: it can be
//     told from one by nobody who has only the old one.
//
// The package imports nothing of ours. It stands below canvas/host, which answers,
// and the clients of both doors, canvas/client and canvas/mcp.
package proof
