package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// wordUsed is x402's word for a payment that was used before.
const wordUsed = x402.InvalidState

// checkPricing refuses a price that no agent could pay. The types of other rails are
// theirs to check.
func checkPricing(p aam.Pricing) error {
	if len(p.Extra) > 2 { // more than {}
		return fmt.Errorf(": unknown member in %s", p.Extra)
	}
	if p.Type == "unreadable" {
		return fmt.Errorf(": %s", p.Problem())
	}
	if p.Type != aam.X402 {
		return nil
	}
	if why := p.Problem(); why != "" {
		return fmt.Errorf(": %s", why)
	}
	if amount, _, _ := p.Amounts(); amount.Zero() {
		return fmt.Errorf("/amount %q: an action without a price is \"free\"", p.Amount)
	}
	if p.PayTo == "" {
		return errors.New("/pay_to: want the address that is paid")
	}
	return nil
}

// x402Rail takes USDC by x402.
type x402Rail struct {
	settle      Settle
	accounts    x402.Accounts
	facilitator *x402.Facilitator // nil without one
}

func newX402(s Settle, h Doer) *x402Rail {
	r := &x402Rail{settle: s}
	if s.Facilitator != "" {
		r.facilitator = &x402.Facilitator{URL: s.Facilitator, HTTP: h}
	}
	if len(s.Nodes) > 0 {
		r.accounts = &x402.Nodes{URLs: s.Nodes, HTTP: h}
	}
	return r
}

// requirement is an offer in x402's terms. The configuration was checked.
func (r *x402Rail) requirement(o Offer) x402.Requirement {
	network, _ := x402.NetworkOf(o.Pricing.Network)
	price, _ := x402.ParsePrice(o.Pricing.Amount)
	return x402.Requirement{
		Scheme: x402.Exact, Network: network.Name, MaxAmount: price.String(), Asset: network.Asset.String(),
		PayTo: o.Pricing.PayTo, Resource: o.Resource, Description: o.Description, MimeType: "application/json",
		MaxTimeout: int(r.settle.valid() / time.Second),
	}
}

// Challenge implements Rail.
func (r *x402Rail) Challenge(_ context.Context, o Offer) (Challenge, error) {
	return Challenge{"x402", x402.Body("X-PAYMENT header is required", r.requirement(o))}, nil
}

// Verify implements Rail. A smart account's signature passes only if a node has checked
// it, or if the facilitator collects the payment before the action runs.
func (r *x402Rail) Verify(ctx context.Context, o Offer, proof string, now time.Time) (Payment, error) {
	v := x402.Verifier{Accounts: r.accounts, Facilitated: !r.settle.later()}
	req := r.requirement(o)
	p, reason := v.Verify(ctx, req, proof, now)
	if reason == nil {
		reason = r.outlives(p, now)
	}
	if reason != nil {
		return Payment{}, r.refuse(req, reason)
	}
	until := p.Data.Authorization.ValidBefore
	return Payment{
		Key: p.Nonce().String(), Until: timeOf(until), Scheme: aam.X402, Network: req.Network,
		Amount: p.Data.Authorization.Value.String(), Payer: p.Data.Authorization.From.String(),
		Proof: ahp.MustMarshal(x402Proof{proof, o}),
	}, nil
}

// x402Proof is what the rail needs to collect a payment.
type x402Proof struct {
	Header string `json:"header"`
	Offer  Offer  `json:"offer"`
}

// outlives refuses an authorization that ends before the batch comes.
func (r *x402Rail) outlives(p x402.Payment, now time.Time) *x402.Reason {
	if r.settle.later() && timeOf(p.Data.Authorization.ValidBefore).Before(now.Add(time.Duration(r.settle.Later))) {
		return &x402.Reason{Code: x402.InvalidValidBefore, Message: fmt.Sprintf("it ends before the payments are collected; sign it for %d seconds", int(r.settle.valid()/time.Second))}
	}
	return nil
}

// timeOf is a second on the chain as a time.
func timeOf(a x402.Amount) time.Time {
	const year9999 = 253402300799 // later ones are not times
	limit, _ := x402.ParseAmount(fmt.Sprint(year9999))
	if a.Cmp(limit) > 0 {
		a = limit
	}
	var n int64
	_, _ = fmt.Sscan(a.String(), &n) // it is digits
	return time.Unix(n, 0).UTC()
}

// refuse answers with x402's word and, if another payment can help, the challenge.
func (r *x402Rail) refuse(req x402.Requirement, reason *x402.Reason) *Refusal {
	if reason.Code == x402.InvalidPayload {
		return refuse(http.StatusBadRequest, reason.Code, "%s", reason.Message)
	}
	out := refuse(http.StatusPaymentRequired, reason.Code, "%s", reason.Message)
	out.Challenge = &Challenge{"x402", x402.Body(reason.Code, req)}
	return out
}

// Settle implements Rail.
func (r *x402Rail) Settle(ctx context.Context, p Payment) (Settlement, error) {
	if r.settle.later() {
		return Settlement{}, ErrLater
	}
	return r.collect(ctx, p, time.Time{})
}

// collect has the facilitator verify and execute a payment. With a time, the payment is
// verified once more: it was kept, and may have ended.
func (r *x402Rail) collect(ctx context.Context, p Payment, now time.Time) (Settlement, error) {
	if r.facilitator == nil {
		return Settlement{}, errors.New("no facilitator is configured")
	}
	var proof x402Proof
	if err := ahp.Unmarshal(p.Proof, &proof); err != nil {
		return Settlement{}, err
	}
	if now.IsZero() {
		now = p.Until.Add(-time.Minute) // it was verified just now
	}
	req := r.requirement(proof.Offer)
	payment, reason := x402.Verifier{Accounts: r.accounts, Facilitated: true}.Verify(ctx, req, proof.Header, now)
	if reason != nil {
		return Settlement{}, r.refuse(req, reason)
	}
	err := r.facilitator.Verify(ctx, payment)
	var done x402.Settlement
	if err == nil {
		done, err = r.facilitator.Settle(ctx, payment)
	}
	if reason, ok := errors.AsType[*x402.Reason](err); ok {
		return Settlement{}, r.refuse(req, reason)
	}
	if err != nil {
		return Settlement{}, err
	}
	receipt := x402.Receipt{Success: true, Transaction: done.Transaction, Network: done.Network, Payer: done.Payer}
	return Settlement{done.Transaction, receipt.Header()}, nil
}
