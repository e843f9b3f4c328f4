package x402

import (
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// MaxHeader is the longest header X-Payment that is read.
const MaxHeader = 8 << 10

// maxSignature is the longest signature, of a smart account.
const maxSignature = 2 << 10

// payload is the decoded header X-Payment. Its members are read leniently, because each
// wrong member has a separate verdict.
type payload struct {
	Version ahp.Value `json:"x402Version"`
	Scheme  string    `json:"scheme"`
	Network string    `json:"network"`
	Payload struct {
		Signature     string         `json:"signature"`
		Authorization authorizations `json:"authorization"`
		Rest          ahp.Value      `json:",embed"`
	} `json:"payload"`
	Rest ahp.Value `json:",embed"`
}

// authorizations is an Authorization as text.
type authorizations struct {
	From        string    `json:"from"`
	To          string    `json:"to"`
	Value       string    `json:"value"`
	ValidAfter  string    `json:"validAfter"`
	ValidBefore string    `json:"validBefore"`
	Nonce       string    `json:"nonce"`
	Rest        ahp.Value `json:",embed"`
}

// decodeHeader returns the JSON of a header X-Payment.
func decodeHeader(header string) ([]byte, error) {
	if len(header) > MaxHeader {
		return nil, errors.New("the header is too long")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(header)
	if err != nil {
		raw, err = base64.RawStdEncoding.Strict().DecodeString(header)
	}
	return raw, err
}

// Header returns the header X-Payment of a signed authorization.
func Header(t TypedData, signature []byte) string {
	type inner struct {
		Signature     string        `json:"signature"`
		Authorization Authorization `json:"authorization"`
	}
	raw := ahp.MustMarshal(struct {
		Version int    `json:"x402Version"`
		Scheme  string `json:"scheme"`
		Network string `json:"network"`
		Payload inner  `json:"payload"`
	}{Version, Exact, t.Network.Name, inner{"0x" + hex.EncodeToString(signature), t.Authorization}})
	return base64.StdEncoding.EncodeToString(raw)
}

// Receipt is the header X-PAYMENT-RESPONSE: what a settlement answered.
type Receipt struct {
	// Success reports that the transfer was executed.
	Success bool `json:"success"`
	// Transaction is the transaction on the chain.
	Transaction string `json:"transaction,omitzero"`
	// Network is where.
	Network string `json:"network,omitzero"`
	// Payer is the address that paid.
	Payer string `json:"payer,omitzero"`
	// ErrorReason is x402's word for a failure.
	ErrorReason string `json:"errorReason,omitzero"`
	// Rest has what else there is.
	Rest ahp.Value `json:",embed"`
}

// ParseReceipt reads the header X-PAYMENT-RESPONSE.
func ParseReceipt(header string) (r Receipt, err error) {
	raw, err := decodeHeader(header)
	if err != nil {
		return r, err
	}
	return r, ahp.Unmarshal(raw, &r)
}

// Header returns the receipt as the header X-PAYMENT-RESPONSE.
func (r Receipt) Header() string {
	return base64.StdEncoding.EncodeToString(ahp.MustMarshal(r))
}
