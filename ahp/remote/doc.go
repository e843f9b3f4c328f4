// Package remote says which address a request comes from, for limits by address.
//
// # What it promises
//
//   - An IPv6 address counts as its /64 network: one machine usually has all of it.
//   - X-Forwarded-For is believed only if the connection comes from a proxy that the
//     program trusts, and only up to the first address that is not such a proxy. A client
//     that sends the header itself changes nothing.
//
// It imports the standard library only.
package remote
