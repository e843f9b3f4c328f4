package x402

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Doer sends HTTP requests.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Settlement is an executed payment.
type Settlement struct {
	// Transaction is the transaction on the chain.
	Transaction string
	// Network is where.
	Network string
	// Payer is the address that paid.
	Payer string
}

// Settler executes payments.
type Settler interface {
	// Settle executes a payment. An error that is a *Reason is a refusal, and nothing was
	// executed; after any other, the outcome is not known.
	Settle(ctx context.Context, p Payment) (Settlement, error)
}

// Facilitator verifies and executes payments by a facilitator's HTTP API. It implements
// [Settler].
type Facilitator struct {
	// URL is the API's address; /verify and /settle are below it.
	URL string
	// HTTP sends the requests.
	HTTP Doer
}

const maxAnswer = 64 << 10

// Verify asks the facilitator whether a payment could be executed. An error that is a
// *Reason is its refusal.
func (f *Facilitator) Verify(ctx context.Context, p Payment) error {
	var out struct {
		Valid  bool      `json:"isValid"`
		Reason string    `json:"invalidReason,omitzero"`
		Payer  ahp.Value `json:"payer,omitzero"`
		Rest   ahp.Value `json:",embed"`
	}
	if err := f.post(ctx, "/verify", p, &out); err != nil {
		return err
	}
	if !out.Valid {
		return refusal(out.Reason, UnexpectedVerify)
	}
	return nil
}

// Settle implements Settler.
func (f *Facilitator) Settle(ctx context.Context, p Payment) (Settlement, error) {
	var out Receipt
	if err := f.post(ctx, "/settle", p, &out); err != nil {
		return Settlement{}, err
	}
	switch {
	case !out.Success:
		return Settlement{}, refusal(out.ErrorReason, UnexpectedSettle)
	case out.Transaction == "" || out.Network != "" && out.Network != p.Data.Network.Name:
		return Settlement{}, fmt.Errorf("the facilitator reports a settlement on %.40q, not on %s", out.Network, p.Data.Network.Name)
	}
	return Settlement{ahp.Line(out.Transaction, 128), p.Data.Network.Name, p.Data.Authorization.From.String()}, nil
}

// refusal is a facilitator's word, cut to one line.
func refusal(word, otherwise string) *Reason {
	if word = ahp.Line(word, 80); word == "" {
		word = otherwise
	}
	return &Reason{word, "the facilitator refuses the payment"}
}

// post sends a payment and its requirement, and decodes the answer.
func (f *Facilitator) post(ctx context.Context, path string, p Payment, out any) error {
	body := ahp.MustMarshal(struct {
		Version     int       `json:"x402Version"`
		Payload     ahp.Value `json:"paymentPayload"`
		Requirement accept    `json:"paymentRequirements"`
	}{Version, p.Raw, p.Requirement.accept()})
	raw, status, err := exchange(ctx, f.HTTP, strings.TrimSuffix(f.URL, "/")+path, body)
	if err != nil {
		return fmt.Errorf("the facilitator cannot be reached: %w", err)
	}
	if err := ahp.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the facilitator answers status %d and no JSON of x402", status)
	}
	return nil
}

// exchange posts JSON and reads at most 64 KiB.
func exchange(ctx context.Context, h Doer, url string, body []byte) ([]byte, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.GetBody = nil // it is sent once
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = fmt.Errorf("the answer is above %d bytes", maxAnswer)
	}
	return raw, resp.StatusCode, err
}
