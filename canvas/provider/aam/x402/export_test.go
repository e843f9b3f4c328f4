package x402

// Keccak and DigestOf are keccak and digestOf for the reference example of EIP-712.
var (
	Keccak   = keccak
	DigestOf = digestOf
)
