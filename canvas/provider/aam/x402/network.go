package x402

import (
	"math/big"
)

// The names that this package knows.
const (
	Version = 1       // of x402
	Exact   = "exact" // the scheme

	Base        = "base"         // real money
	BaseSepolia = "base-sepolia" // a test network
)

// Network is a chain and its USDC contract: the domain of every signature there.
type Network struct {
	// Name is how x402 calls it.
	Name string
	// ChainID is the chain's number.
	ChainID uint64
	// Asset is the USDC contract.
	Asset Address
	// AssetName and AssetVersion are the name and the version in the contract's EIP-712
	// domain.
	AssetName, AssetVersion string
	// Test reports that its USDC is worth nothing.
	Test bool
}

var networks = map[string]Network{
	Base:        {Base, 8453, mustAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), "USD Coin", "2", false},
	BaseSepolia: {BaseSepolia, 84532, mustAddress("0x036CbD53842c5426634e7929541eC2318f3dCF7e"), "USDC", "2", true},
}

func mustAddress(s string) Address {
	a, err := ParseAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

// NetworkOf returns the network of that name, if this package knows it.
func NetworkOf(name string) (Network, bool) {
	n, ok := networks[name]
	return n, ok
}

// separator is the hash of the EIP-712 domain.
func (n Network) separator() [32]byte {
	kind := keccak([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"))
	name, version := keccak([]byte(n.AssetName)), keccak([]byte(n.AssetVersion))
	chain := number(n.ChainID)
	contract := word(n.Asset)
	return keccak(kind[:], name[:], version[:], chain[:], contract[:])
}

// word is an address as 32 bytes.
func word(a Address) (w [32]byte) {
	copy(w[12:], a[:])
	return w
}

func number(n uint64) (w [32]byte) {
	new(big.Int).SetUint64(n).FillBytes(w[:])
	return w
}
