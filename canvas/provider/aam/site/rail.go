package site

import (
	"context"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// Rail takes payments of one pricing type. x402 is built in; a program adds others by
// [Options.Rails].
type Rail interface {
	// Challenge returns what a 402 says about a payment that is needed.
	Challenge(ctx context.Context, o Offer) (Challenge, error)
	// Verify checks the proof that an agent sent in X-Payment. It changes nothing: the
	// site takes Payment.Key, and refuses one that was taken before. An error of type
	// *[Refusal] is the answer.
	Verify(ctx context.Context, o Offer, proof string, now time.Time) (Payment, error)
	// Settle collects a payment before the action runs. [ErrLater] keeps it, to be
	// collected in a batch; any other error refuses the call.
	Settle(ctx context.Context, p Payment) (Settlement, error)
}

// Offer is what an agent is asked to pay for.
type Offer struct {
	// Action is the action's id.
	Action string
	// Description is the action's description.
	Description string
	// Resource is the action's URL.
	Resource string
	// Pricing is the action's price.
	Pricing aam.Pricing
}

// Challenge is the answer to a call that was not paid.
type Challenge struct {
	// Header is the value of X-Payment-Required.
	Header string
	// Body is a JSON object.
	Body ahp.Value
}

// Payment is a verified payment. "Verified" means that its proof is right: whether the
// money can be collected is known after Settle.
type Payment struct {
	// Key is different for each payment: it is accepted once.
	Key string `json:"key"`
	// Until is when the proof ends. The key is kept for a day longer.
	Until time.Time `json:"until"`
	// Scheme is the pricing type, for the audit.
	Scheme string `json:"scheme"`
	// Network is where the money is, for the audit.
	Network string `json:"network,omitzero"`
	// Amount is in base units.
	Amount string `json:"amount"`
	// Payer is whose money it is, for the audit.
	Payer string `json:"payer,omitzero"`
	// Proof is what a rail needs to collect the payment.
	Proof ahp.Value `json:"proof,omitzero"`
}

// Settlement is a payment that was collected.
type Settlement struct {
	// Transaction names the transfer.
	Transaction string `json:"transaction"`
	// Header is the value of X-PAYMENT-RESPONSE.
	Header string `json:"header,omitzero"`
}

// ErrLater says that a payment is collected in a batch.
var ErrLater = errors.New("site: the payment is collected later")
