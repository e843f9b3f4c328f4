// Package aamid checks AAM ID credentials: JWTs that an issuer signs for a person and an
// agent's vendor, and that a site checks against the issuer's keys.
//
// # Guarantees
//
//   - Only RS256 with an RSA key of 2048 bits and more, chosen by its kid from the keys of
//     the issuer that the credential names and that the caller trusts. No key or algorithm
//     comes from the credential.
//   - A credential has an end, at most 31 days after its beginning, an audience that is
//     the site or "any", a verified address, and the vendor that presents it.
//   - Keys are kept for 24 hours. A kid that is not among them fetches them again, once a
//     minute at most, and callers share one fetch.
//   - Errors do not quote the credential.
//
// package aamid/issuer issues such credentials. The package imports ahp, ahp/jws and go-jose.
package aamid
