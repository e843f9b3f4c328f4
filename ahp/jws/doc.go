// Package jws reads signed tokens in their compact form (RFC 7515).
//
// # Guarantees
//
//   - Each token has one text. Decoders of base64 ignore line ends and spare bits, so that
//     one signature would stand for many texts; Parse refuses these.
//   - A token has one signature, by the one algorithm that the caller names.
//
// The package verifies nothing and keeps nothing. It imports go-jose.
package jws
