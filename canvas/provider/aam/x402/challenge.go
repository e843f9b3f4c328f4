package x402

import (
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Requirement is one way to pay that a site offers.
type Requirement struct {
	// Scheme is how; this package pays and verifies Exact.
	Scheme string
	// Network names the chain.
	Network string
	// MaxAmount is the price in base units.
	MaxAmount string
	// Asset is the contract of the token.
	Asset string
	// PayTo is the address of the site.
	PayTo string
	// Resource is what is paid for.
	Resource string
	// Description is the site's text about it.
	Description string
	// MimeType is the type of what is paid for.
	MimeType string
	// MaxTimeout is how long the site may take, in seconds.
	MaxTimeout int
}

// accept is a requirement as x402 spells it.
type accept struct {
	Scheme      string    `json:"scheme"`
	Network     string    `json:"network"`
	MaxAmount   string    `json:"maxAmountRequired"`
	Asset       string    `json:"asset"`
	PayTo       string    `json:"payTo"`
	Resource    string    `json:"resource"`
	Description string    `json:"description"`
	MimeType    string    `json:"mimeType"`
	MaxTimeout  int       `json:"maxTimeoutSeconds"`
	Extra       *domain   `json:"extra,omitzero"`
	Rest        ahp.Value `json:",embed"`
}

// domain is what x402 repeats of the asset's EIP-712 domain.
type domain struct {
	Name    string    `json:"name,omitzero"`
	Version string    `json:"version,omitzero"`
	Rest    ahp.Value `json:",embed"`
}

// challenge is a requirement as AAM spells it.
type challenge struct {
	Scheme    string    `json:"scheme"`
	Network   string    `json:"network"`
	Asset     string    `json:"asset,omitzero"`
	MaxAmount string    `json:"max_amount_required"`
	PayTo     string    `json:"pay_to"`
	Resource  string    `json:"resource,omitzero"`
	Rest      ahp.Value `json:",embed"`
}

// lenient variants have no required members: a challenge that lacks one is listed, and is
// not payable.
type (
	readAccept struct {
		Scheme      string    `json:"scheme,omitzero"`
		Network     string    `json:"network,omitzero"`
		MaxAmount   string    `json:"maxAmountRequired,omitzero"`
		Asset       string    `json:"asset,omitzero"`
		PayTo       string    `json:"payTo,omitzero"`
		Resource    string    `json:"resource,omitzero"`
		Description string    `json:"description,omitzero"`
		MimeType    string    `json:"mimeType,omitzero"`
		MaxTimeout  int       `json:"maxTimeoutSeconds,omitzero"`
		Rest        ahp.Value `json:",embed"`
	}
	readChallenge struct {
		Scheme     string    `json:"scheme,omitzero"`
		Network    string    `json:"network,omitzero"`
		Asset      string    `json:"asset,omitzero"`
		MaxAmount  string    `json:"max_amount_required,omitzero"`
		PayTo      string    `json:"pay_to,omitzero"`
		Resource   string    `json:"resource,omitzero"`
		MaxTimeout int       `json:"max_timeout_seconds,omitzero"`
		Rest       ahp.Value `json:",embed"`
	}
)

// maxRequirements is how many ways to pay are read of one challenge.
const maxRequirements = 16

// ErrChallenge is the error of a body that is no challenge.
var ErrChallenge = errors.New("the body of the 402 has neither accepts nor challenges")

// ParseChallenge reads the body of a 402. A body with both spellings counts as x402's.
func ParseChallenge(body []byte) ([]Requirement, error) {
	var in struct {
		Version    ahp.Value       `json:"x402Version,omitzero"`
		Accepts    []readAccept    `json:"accepts,omitzero"`
		Challenges []readChallenge `json:"challenges,omitzero"`
		Rest       ahp.Value       `json:",embed"`
	}
	if err := ahp.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	var list []Requirement
	switch {
	case len(in.Accepts) > 0:
		if in.Version.Kind() != 0 && string(in.Version) != "1" {
			return nil, &Reason{Code: InvalidVersion, Message: "the challenge is of another version of x402"}
		}
		for _, a := range in.Accepts[:min(len(in.Accepts), maxRequirements)] {
			list = append(list, Requirement{a.Scheme, a.Network, a.MaxAmount, a.Asset, a.PayTo, a.Resource, a.Description, a.MimeType, a.MaxTimeout})
		}
	case len(in.Challenges) > 0:
		for _, c := range in.Challenges[:min(len(in.Challenges), maxRequirements)] {
			list = append(list, Requirement{c.Scheme, c.Network, c.MaxAmount, c.Asset, c.PayTo, c.Resource, "", "", c.MaxTimeout})
		}
	default:
		return nil, ErrChallenge
	}
	return list, nil
}

// Body returns the body of a 402 that offers these ways to pay, in both spellings.
func Body(reason string, list ...Requirement) ahp.Value {
	body := struct {
		Version    int         `json:"x402Version"`
		Error      string      `json:"error"`
		Accepts    []accept    `json:"accepts"`
		AAM        string      `json:"x402_version"`
		Challenges []challenge `json:"challenges"`
	}{Version: Version, Error: reason, Accepts: []accept{}, AAM: "0.1", Challenges: []challenge{}}
	for _, r := range list {
		body.Accepts = append(body.Accepts, r.accept())
		body.Challenges = append(body.Challenges, challenge{r.Scheme, r.Network, r.Asset, r.MaxAmount, r.PayTo, r.Resource, nil})
	}
	return ahp.MustMarshal(body)
}

func (r Requirement) accept() accept {
	a := accept{Scheme: r.Scheme, Network: r.Network, MaxAmount: r.MaxAmount, Asset: r.Asset, PayTo: r.PayTo,
		Resource: r.Resource, Description: r.Description, MimeType: r.MimeType, MaxTimeout: r.MaxTimeout}
	if n, ok := NetworkOf(r.Network); ok {
		a.Extra = &domain{Name: n.AssetName, Version: n.AssetVersion}
	}
	return a
}

// Price is a requirement that this package can pay and verify.
type Price struct {
	// Network is where.
	Network Network
	// Amount is how much.
	Amount Amount
	// PayTo is the recipient.
	PayTo Address
}

// Price returns what the requirement asks, if it is one that this package knows: scheme
// exact, a known network, its USDC contract, an address and an amount.
func (r Requirement) Price() (Price, *Reason) {
	n, ok := NetworkOf(r.Network)
	switch {
	case r.Scheme != Exact:
		return Price{}, reasonf(UnsupportedScheme, "scheme %.40q is not known", r.Scheme)
	case !ok:
		return Price{}, reasonf(InvalidNetwork, "network %.40q is not known", r.Network)
	}
	asset, err := ParseAddress(r.Asset)
	if err != nil || asset != n.Asset {
		return Price{}, reasonf(InvalidRequirements, "asset %.60q is not the USDC of %s", r.Asset, n.Name)
	}
	to, err := ParseAddress(r.PayTo)
	if err != nil {
		return Price{}, reasonf(InvalidRequirements, "recipient: %v", err)
	}
	amount, err := ParseAmount(r.MaxAmount)
	if err != nil {
		return Price{}, reasonf(InvalidRequirements, "amount: %v", err)
	}
	return Price{n, amount, to}, nil
}
