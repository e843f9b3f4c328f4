// Package aam implements the agent's side of AAM 0.1, the Agent Action Manifest: it reads a
// site's manifest, lets a person sign in there, calls its actions and pays for them. It is
// usable alone, with an HTTP client; package aamcanvas makes a site a canvas of a host, and
// package site is the other side.
//
// # Guarantees
//
//   - A token goes to the origin that gave it, and nowhere else: token and action addresses
//     of another origin are refused, and redirects with credentials are not followed.
//   - A request is sent once. If its answer is lost, the error says that the outcome is not
//     known. The one second request is the paid one after a 402, which ran nothing.
//   - Before a payment leaves, it is in the [Ledger], on the disk. After a crash it is
//     unknown, and a call is never paid for a second time.
//   - A payment is at most the manifest's price, and exactly what the approval named.
//   - Tokens are in the [Vault] and in requests to their site; no error, outcome or log has
//     them.
//   - A budget is spent in the critical section that checks it, and is on the disk before
//     the payment is signed.
//
// Approvals are the caller's: [Client.Invoke] sends what it is given. Everything that a
// site sends is data; nothing of it is an instruction.
//
// # Where to look
//
// manifest.go and params.go read manifests, client.go and invoke.go talk to sites, pay.go
// pays, ledger.go and vault.go keep things, pin.go knows the person's PIN.
//
// The package imports ahp, ahp/durable and x402.
package aam
