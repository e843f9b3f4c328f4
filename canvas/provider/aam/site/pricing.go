package site

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// TypeX402 is the pricing type of signed USDC authorizations.
const TypeX402 = "x402"

// Pricing is an action's price. In JSON, the zero value is the word "free".
type Pricing struct {
	// Type is the kind of payment, such as [TypeX402]; "" is free.
	Type string `json:"type"`
	// Amount is a decimal number in the currency, as in "0.05".
	Amount string `json:"amount"`
	// Currency is "USDC" for x402.
	Currency string `json:"currency"`
	// Network is where an x402 payment is collected: "base" or "base-sepolia".
	Network string `json:"network,omitzero"`
	// PayTo is the address that an x402 payment goes to. It is not part of the manifest.
	PayTo string `json:"pay_to,omitzero"`
}

// Free reports whether nothing is to be paid.
func (p Pricing) Free() bool { return p.Type == "" }

// MarshalJSON writes "free" or the members.
func (p Pricing) MarshalJSON() ([]byte, error) {
	if p.Free() {
		return []byte(`"free"`), nil
	}
	type plain Pricing
	return ahp.Marshal(plain(p))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Pricing) UnmarshalJSON(b []byte) error {
	if string(b) == `"free"` {
		*p = Pricing{}
		return nil
	}
	type plain Pricing
	if err := strictly(b, (*plain)(p)); err != nil {
		return err
	}
	if p.Type == "" || p.Type == "free" {
		return errors.New(`want "free" or the type of a payment`)
	}
	return nil
}

// check refuses a price that no agent could pay.
func (p Pricing) check() error {
	n, err := x402.ParsePrice(p.Amount)
	if err != nil {
		return fmt.Errorf("/amount: %w", err)
	}
	if n.Zero() {
		return fmt.Errorf("/amount %q: an action without a price is \"free\"", p.Amount)
	}
	if p.Type != TypeX402 {
		return nil // its rail checks it
	}
	return checkX402(p)
}
