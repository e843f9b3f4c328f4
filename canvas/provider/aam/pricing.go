package aam

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// The types of a [Pricing] that this package knows.
const (
	Free = "free"
	X402 = "x402"
)

// Pricing is what an action costs. The zero Pricing is free.
type Pricing struct {
	// Type is Free, X402 or another.
	Type string
	// Amount is the price in units of the currency, as in "0.05".
	Amount string
	// Currency is "USDC".
	Currency string
	// Network is where it is paid.
	Network string
	// PayTo is who is paid, if the manifest says it.
	PayTo string
	// Extra has the members that this package does not know.
	Extra ahp.Value

	problem string // why it cannot be read
}

// pricing is a Pricing that is not free, on the wire.
type pricing struct {
	Type     string    `json:"type"`
	Amount   string    `json:"amount,omitzero"`
	Currency string    `json:"currency,omitzero"`
	Network  string    `json:"network,omitzero"`
	PayTo    string    `json:"pay_to,omitzero"`
	Extra    ahp.Value `json:",embed"`
}

// MarshalJSON implements json.Marshaler.
func (p Pricing) MarshalJSON() ([]byte, error) {
	if p.Type == Free || p.Type == "" {
		return []byte(`"free"`), nil
	}
	return ahp.Marshal(pricing{p.Type, p.Amount, p.Currency, p.Network, p.PayTo, p.Extra})
}

// UnmarshalJSON implements json.Unmarshaler. A pricing that cannot be read is kept as one
// that cannot be paid here, so that the rest of the manifest can be used.
func (p *Pricing) UnmarshalJSON(b []byte) error {
	*p = Pricing{}
	switch ahp.Value(b).Kind() {
	case '"':
		return ahp.Unmarshal(b, &p.Type)
	case '{':
		var in pricing
		if err := ahp.Unmarshal(b, &in); err != nil {
			*p = Pricing{Type: "unreadable", problem: ahp.Line(err.Error(), 200)}
			return nil
		}
		*p = Pricing{in.Type, in.Amount, in.Currency, in.Network, in.PayTo, in.Extra, ""}
	default:
		*p = Pricing{Type: "unreadable", problem: "it is neither a text nor an object"}
	}
	return nil
}

// Free reports whether the action costs nothing.
func (p Pricing) Free() bool { return p.Type == Free || p.Type == "" && p.problem == "" }

// Amounts returns the price in base units and its network; false if the action is free or
// cannot be paid here.
func (p Pricing) Amounts() (x402.Amount, x402.Network, bool) {
	if p.Free() || p.Problem() != "" {
		return x402.Amount{}, x402.Network{}, false
	}
	n, _ := x402.NetworkOf(p.Network) // Problem knows it
	a, _ := x402.ParsePrice(p.Amount)
	return a, n, true
}

// Problem returns why a price cannot be paid by this package; "" if it can, or is none.
func (p Pricing) Problem() string {
	switch _, known := x402.NetworkOf(p.Network); {
	case p.Free():
		return ""
	case p.problem != "":
		return p.problem
	case p.Type != X402:
		return "pricing type " + quote(p.Type) + " is not known"
	case p.Currency != "USDC":
		return "currency " + quote(p.Currency) + " is not USDC"
	case !known:
		return "network " + quote(p.Network) + " is not known"
	}
	if _, err := x402.ParsePrice(p.Amount); err != nil {
		return err.Error()
	}
	if p.PayTo != "" {
		if _, err := x402.ParseAddress(p.PayTo); err != nil {
			return err.Error()
		}
	}
	return ""
}

// String returns the price for people: "free", or as in "0.05 USDC on base".
func (p Pricing) String() string {
	if p.Free() {
		return Free
	}
	if a, n, ok := p.Amounts(); ok {
		return a.Price() + " USDC on " + n.Name
	}
	return "not payable here"
}
