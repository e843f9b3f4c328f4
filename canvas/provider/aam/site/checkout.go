package site

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TypeCheckout is the pricing type of [Checkout].
const TypeCheckout = "checkout"

// Checkout is a [Rail] for payments that a person makes at a hosted page: the 402 has its
// link, and the agent calls again with the reference as X-Payment once the person has
// paid. It serves pricing of any currency; register it in [Options.Rails].
type Checkout struct {
	// Open makes a checkout for an offer, and returns its https link. The reference is
	// random and names it.
	Open func(ctx context.Context, o Offer, reference string) (link string, err error)
	// Paid reports whether the checkout with a reference was paid, for this offer.
	Paid func(ctx context.Context, o Offer, reference string) (bool, error)
}

// checkoutKeep is how long a reference that was used is remembered. Paid must not return
// true for an older one.
const checkoutKeep = 90 * 24 * time.Hour

// Challenge implements Rail.
func (c *Checkout) Challenge(ctx context.Context, o Offer) (Challenge, error) {
	reference := "chk_" + rand.Text()
	link, err := c.Open(ctx, o, reference)
	if err != nil {
		return Challenge{}, err
	}
	if u, err := url.Parse(link); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return Challenge{}, errors.New("the checkout's link is not an https address")
	}
	return Challenge{TypeCheckout, ahp.MustMarshal(struct {
		Error     string `json:"error"`
		Type      string `json:"type"`
		Amount    string `json:"amount"`
		Currency  string `json:"currency"`
		URL       string `json:"checkout_url"`
		Reference string `json:"reference"`
	}{"X-Payment with the reference is required once the person has paid at checkout_url", TypeCheckout, o.Pricing.Amount, o.Pricing.Currency, link, reference})}, nil
}

// Verify implements Rail.
func (c *Checkout) Verify(ctx context.Context, o Offer, proof string, now time.Time) (Payment, error) {
	if len(proof) > 64 {
		return Payment{}, refuse(http.StatusBadRequest, CodeInvalidProof, "the reference is too long")
	}
	paid, err := c.Paid(ctx, o, proof)
	if err != nil {
		return Payment{}, err
	}
	if !paid {
		return Payment{}, refuse(http.StatusPaymentRequired, CodePayment, "the person has not paid yet")
	}
	return Payment{Key: TypeCheckout + " " + proof, Until: now.Add(checkoutKeep), Scheme: TypeCheckout, Amount: o.Pricing.Amount}, nil
}

// Settle implements Rail: the money was collected by the page.
func (c *Checkout) Settle(_ context.Context, p Payment) (Settlement, error) {
	return Settlement{}, nil
}
