// Package x402 is the payment of x402 version 1 with scheme "exact" and USDC: a site's
// challenge, the authorization that a payer signs (EIP-3009 over EIP-712), and its check.
// The package moves no money: "verified" means that the signature is right.
//
// # Guarantees
//
//   - Two networks are known, base and base-sepolia, and one asset on each, its USDC
//     contract. The domain of a signature comes from this package, never from a challenge.
//   - Amounts are whole base units of up to 78 digits. No float is involved.
//   - [Verifier.Verify] checks everything that can be checked without a chain, in a fixed
//     order, and its [Reason] has the words of x402. A signature of a smart account is
//     never accepted unchecked: without an [Accounts] it is refused.
//   - A used [Nonce] is keyed by the nonce and not by the signature, and a signature with
//     a high s is refused, so no second form of a payment is accepted.
//   - [Key] signs for base-sepolia and for nothing else.
//
// # Where to look
//
// challenge.go reads and writes the body of a 402 in both spellings, payload.go the header
// X-Payment, typed.go makes the digest that is signed, verify.go checks. sign.go has the
// test key, wallet.go a person's wallet as a program, facilitator.go and accounts.go what
// asks others: a facilitator, and a node for smart accounts (ERC-1271).
//
// The package imports ahp.
package x402
