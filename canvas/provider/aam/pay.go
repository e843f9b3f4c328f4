package aam

import (
	"context"
	"net/url"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// Due is what a site wants to be paid for a call.
type Due struct {
	// Price is the amount, the network and the recipient.
	Price x402.Price
	// Requirement is the site's.
	Requirement x402.Requirement
}

// Key returns what an approval of the payment names.
func (d Due) Key() string {
	return d.Price.Network.Name + " " + d.Price.Amount.String() + " " + d.Price.PayTo.String()
}

// due reads a 402. What cannot be paid here is not an error: the agent sees the challenge.
func (c *Client) due(a Action, o Outcome, got answer) (Outcome, error) {
	o.Kind, o.Price, o.RunID = Payment, a.Pricing.String(), ""
	if body := ahp.Value(got.body); body.IsValid() && len(body) <= maxData {
		o.Challenge = body
	}
	payable := false
	o.Payable = &payable
	if readCheckout(&o, got.body) {
		return o, nil
	}
	list, err := x402.ParseChallenge(got.body)
	if err != nil {
		o.Message = "the challenge cannot be read: " + ahp.Line(err.Error(), 200)
		return o, nil
	}
	for _, r := range list {
		price, why := payableAt(a.Pricing, r)
		if why != "" {
			o.Message = cmpOr(o.Message, why)
			continue
		}
		o.due = &Due{price, r}
		o.Message = ""
		if c.signer != nil {
			_, payable = c.signer.Address(price.Network)
		}
		if !payable {
			o.Message = "this host has no wallet for " + price.Network.Name + "; bring a payment_proof"
		}
		break
	}
	return o, nil
}

// readCheckout reads the 402 of a hosted checkout: a link for the person, and a reference
// with which the agent calls again.
func readCheckout(o *Outcome, body []byte) bool {
	var in struct {
		URL       string    `json:"checkout_url"`
		Reference string    `json:"reference"`
		Rest      ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(body, &in) != nil {
		return false
	}
	u, err := url.Parse(in.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(in.URL) > 2048 || !plainText(in.Reference, maxReference) {
		return false
	}
	o.CheckoutURL, o.Reference = u.String(), in.Reference
	o.Message = "Ask the person to pay at checkout_url, then call again with the reference as payment_proof."
	return true
}

// payableAt holds a requirement against the manifest's price.
func payableAt(p Pricing, r x402.Requirement) (x402.Price, string) {
	price, reason := r.Price()
	if reason != nil {
		return price, reason.Message
	}
	most, network, ok := p.Amounts()
	switch {
	case !ok:
		return price, "the manifest has no price for it that can be paid here"
	case network.Name != price.Network.Name:
		return price, "asks for " + price.Network.Name + ", its manifest says " + network.Name
	case price.Amount.Cmp(most) > 0:
		return price, "asks " + price.Amount.Price() + ", its manifest says " + most.Price()
	}
	if to, err := x402.ParseAddress(p.PayTo); err == nil && to != price.PayTo {
		return price, "asks to pay " + price.PayTo.String() + ", its manifest says " + to.String()
	}
	return price, ""
}

// Pay pays for a call and sends it. The caller has the person's approval of exactly this
// payment, or says with budget that the site's budget covers it. proof is a header
// X-Payment that the agent brought; without it, the client's signer pays. A call that was
// paid for once is not paid for again, whatever came of it.
func (c *Client) Pay(ctx context.Context, m *Manifest, site Site, call Call, due Due, proof string, budget bool) (Outcome, error) {
	a, err := m.Action(call.Action)
	if err != nil {
		return Outcome{}, err
	}
	switch price, why := payableAt(a.Pricing, due.Requirement); {
	case why != "":
		return Outcome{}, errorf(CodePaymentInvalid, "", "%s", why)
	case price != due.Price:
		return Outcome{}, errorf(CodePaymentInvalid, "", "the price is not that of the site's challenge")
	}
	data, signature, err := c.authorization(due, proof)
	if err != nil {
		return Outcome{}, err
	}
	n := data.Authorization
	err = c.ledger.Begin(Intent{Call: call.ID, Site: site.String(), Action: call.Action, Amount: n.Value,
		Network: data.Network.Name, From: n.From, To: n.To, Nonce: n.Nonce}, budget)
	if err != nil {
		return Outcome{}, err
	}
	if signature == nil {
		if signature, err = c.signer.Sign(ctx, data); err != nil {
			_ = c.ledger.Cancel(call.ID) // it stays, and the call is not paid for
			return Outcome{}, errorf(CodeDeclined, "", "the payment was not signed: %s", ahp.Line(err.Error(), 200))
		}
	}
	if err := c.ledger.set(call.ID, StateSigned); err != nil {
		return Outcome{}, err
	}
	pay := &payment{x402.Header(data, signature), Paid{n.Value.Price(), "USDC", data.Network.Name, n.To.String(), ""}}
	o, err := c.invoke(ctx, m, site, call, pay)
	return o, c.settle(call.ID, o, err)
}

// authorization returns what is signed: the agent's, or a new one without a signature.
func (c *Client) authorization(due Due, proof string) (x402.TypedData, []byte, error) {
	if proof != "" {
		p, reason := x402.Verify(due.Requirement, proof, c.now(), nil)
		if reason != nil {
			return x402.TypedData{}, nil, errorf(CodePaymentInvalid, "/input/payment_proof", "%s", reason.Error())
		}
		if p.Data.Authorization.Value != due.Price.Amount {
			return x402.TypedData{}, nil, errorf(CodePaymentInvalid, "/input/payment_proof", "it pays %s USDC, not %s",
				p.Data.Authorization.Value.Price(), due.Price.Amount.Price())
		}
		return p.Data, p.Signature, nil
	}
	if c.signer == nil {
		return x402.TypedData{}, nil, errorf(CodePaymentInvalid, "", "this host has no wallet; bring a payment_proof")
	}
	from, ok := c.signer.Address(due.Price.Network)
	if !ok {
		return x402.TypedData{}, nil, errorf(CodePaymentInvalid, "", "this host has no wallet for %s", due.Price.Network.Name)
	}
	data, err := x402.Authorize(from, due.Price, time.Duration(due.Requirement.MaxTimeout)*time.Second, c.now())
	return data, nil, err
}

// settle records what came of a payment. An answer that the site did not understand says
// nothing about the money: only a success is paid, and only a clear refusal is refused.
func (c *Client) settle(call string, o Outcome, err error) error {
	state := StateUnknown
	switch {
	case err == nil && o.Kind == Done:
		state = StatePaid
	case err == nil, isCode(err, CodePaymentInvalid), isCode(err, CodeForbidden), isCode(err, CodeLimitExceeded), isCode(err, CodeInputInvalid):
		state = StateRefused
	}
	if failed := c.ledger.set(call, state); err == nil {
		return failed
	}
	return err
}
