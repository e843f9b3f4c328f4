// Package signed checks tokens of a relay that carry their own rights, so that the edges of a
// fleet need no common token file.
//
// A token is a JSON Web Token (RFC 7519) of type "ahp-relay+jwt", signed with Ed25519. Its
// algorithm must be exactly EdDSA, and only the configured public keys count, never one that
// the token names. Its claims:
//
//	aud    "host" or "client"         jti    the token's id, by which it is revoked
//	hosts  host names, or patterns    sub    the holder
//	exp    when it expires            cid    the only client id, optional
//	nbf    from when on, optional     lanes  how many lanes at once, optional
//
// # Guarantees
//
//   - A token without an expiry or an id is refused, and so is one of more than 2 KiB.
//   - A token that expires, or whose id enters the file of revoked ids, ends the connections
//     that it opened. The file is read again within seconds of a change. If it cannot be read
//     or is not valid, the ids of its last good version stay revoked and the log has an error.
//   - Log lines about refused tokens have the reason, the host and, after the signature was
//     verified, the id and the holder. They never have the token. There is at most one a second.
//
// It imports relay, ahp, ahp/jws and go-jose.
package signed
