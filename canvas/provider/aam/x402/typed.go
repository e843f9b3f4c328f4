package x402

import (
	"encoding/hex"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Authorization is what a payer signs: a transfer that its holder can execute once within
// its time (EIP-3009).
type Authorization struct {
	// From pays.
	From Address `json:"from"`
	// To is paid.
	To Address `json:"to"`
	// Value is the amount.
	Value Amount `json:"value"`
	// ValidAfter is the Unix second after which it can be executed.
	ValidAfter Amount `json:"validAfter"`
	// ValidBefore is the Unix second before which it can be executed.
	ValidBefore Amount `json:"validBefore"`
	// Nonce is random, and makes it good once.
	Nonce Word `json:"nonce"`
}

// Word is 32 bytes; its text is 0x and 64 hex digits.
type Word [32]byte

// String returns 0x and 64 hex digits.
func (w Word) String() string { return "0x" + hex.EncodeToString(w[:]) }

// MarshalText implements encoding.TextMarshaler.
func (w Word) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Word) UnmarshalText(b []byte) error { return fromHex(string(b), w[:]) }

// TypedData is an authorization for one network, in the form that wallets sign (EIP-712).
type TypedData struct {
	// Network is where it can be executed.
	Network Network
	// Authorization is the message.
	Authorization Authorization
}

const transferType = "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"

// Digest returns what is signed.
func (t TypedData) Digest() [32]byte {
	a := t.Authorization
	kind := keccak([]byte(transferType))
	from, to := word(a.From), word(a.To)
	message := keccak(kind[:], from[:], to[:], a.Value.word[:], a.ValidAfter.word[:], a.ValidBefore.word[:], a.Nonce[:])
	return digestOf(t.Network.separator(), message)
}

func digestOf(separator, message [32]byte) [32]byte {
	return keccak([]byte{0x19, 0x01}, separator[:], message[:])
}

// field is a member of an EIP-712 type.
type field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// JSON returns the typed data as eth_signTypedData_v4 takes it. All numbers are decimal
// strings.
func (t TypedData) JSON() ahp.Value {
	type domain struct {
		Name     string  `json:"name"`
		Version  string  `json:"version"`
		ChainID  string  `json:"chainId"`
		Contract Address `json:"verifyingContract"`
	}
	n := t.Network
	return ahp.MustMarshal(struct {
		Types   map[string][]field `json:"types"`
		Primary string             `json:"primaryType"`
		Domain  domain             `json:"domain"`
		Message Authorization      `json:"message"`
	}{
		Types: map[string][]field{
			"EIP712Domain": {{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}},
			"TransferWithAuthorization": {{"from", "address"}, {"to", "address"}, {"value", "uint256"},
				{"validAfter", "uint256"}, {"validBefore", "uint256"}, {"nonce", "bytes32"}},
		},
		Primary: "TransferWithAuthorization",
		Domain:  domain{n.AssetName, n.AssetVersion, strconv.FormatUint(n.ChainID, 10), n.Asset},
		Message: t.Authorization,
	})
}
