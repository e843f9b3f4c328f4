package aam_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// sent is a header X-Payment, read without the package that writes it.
type sent struct {
	X402Version     int
	Scheme, Network string
	Payload         struct {
		Signature     string
		Authorization struct{ From, To, Value, ValidAfter, ValidBefore, Nonce string }
	}
}

func readSent(t *testing.T, header string) (s sent) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(header)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// offers answers with a 402 of x402's spelling, with members of the requirement replaced.
func offers(change map[string]any) http.HandlerFunc {
	r := map[string]any{"scheme": "exact", "network": "base-sepolia", "maxAmountRequired": "50000", "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "payTo": payTo, "maxTimeoutSeconds": 60}
	for k, v := range change {
		r[k] = v
		if v == nil {
			delete(r, k)
		}
	}
	body, _ := json.Marshal(map[string]any{"x402Version": 1, "accepts": []any{r}})
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusPaymentRequired)
		_, _ = w.Write(body)
	}
}

// TestExactPayment reads what leaves: the amount that the site asks, also below the manifest's, for the
// site's time and ten minutes at most, each with another nonce. When the site has it, it is in the ledger's file.
func TestExactPayment(t *testing.T) {
	t.Parallel()
	e, m := newPaid(t)
	nonces := map[string]bool{}
	for _, c := range []struct {
		change  map[string]any
		value   string
		seconds int64
	}{
		{nil, "50000", 60},
		{map[string]any{"maxAmountRequired": "40000"}, "40000", 60},
		{map[string]any{"maxTimeoutSeconds": 86400}, "50000", 600},
		{map[string]any{"maxTimeoutSeconds": nil}, "50000", 600},
	} {
		var got sent
		var ledger []byte
		e.site.handle(reservePath, func(w http.ResponseWriter, r *http.Request) {
			if header := r.Header.Get("X-Payment"); header != "" {
				got = readSent(t, header)
				ledger, _ = os.ReadFile(filepath.Join(e.dir, "payments.json"))
				fmt.Fprint(w, `{"ok":true}`)
				return
			}
			offers(c.change)(w, r)
		})
		call := reservation()
		began := time.Now().Unix()
		if o, err := e.Pay(t.Context(), m, e.at, call, e.due(t, m, call), "", false); err != nil || o.Kind != aam.Done {
			t.Fatalf("%v: %+v, %v", c.change, o, err)
		}
		a := got.Payload.Authorization
		until, err := strconv.ParseInt(a.ValidBefore, 10, 64)
		if err != nil || until < began+c.seconds || until > time.Now().Unix()+c.seconds {
			t.Errorf("%v: valid for %d seconds, %v", c.change, until-began, err)
		}
		if a.Value != c.value || !strings.EqualFold(a.To, payTo) || a.ValidAfter != "0" || got.Network != "base-sepolia" || nonces[a.Nonce] || len(a.Nonce) != 66 {
			t.Errorf("%v: %+v", c.change, got)
		}
		nonces[a.Nonce] = true
		if !strings.Contains(string(ledger), a.Nonce) || !strings.Contains(string(ledger), call.ID) {
			t.Errorf("%v: the payment was sent before it was in the ledger's file", c.change)
		}
	}
}

// TestNotPayable: what this host cannot pay is shown to the agent with the site's challenge, unsigned, and
// no caller can have it paid.
func TestNotPayable(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{
		"scheme":           {"scheme": "upto"},
		"network":          {"network": "ethereum"},
		"asset":            {"asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
		"recipient":        {"payTo": "rosso.eth"},
		"no recipient":     {"payTo": nil},
		"amount":           {"maxAmountRequired": "0.05"},
		"a base unit more": {"maxAmountRequired": "50001"},
	} {
		e, m := newPaid(t)
		e.site.handle(reservePath, paidAction(offers(change)))
		call := reservation()
		o, err := e.Invoke(t.Context(), m, e.at, call)
		if _, has := o.Due(); err != nil || has || o.Kind != aam.Payment || o.Payable == nil || *o.Payable || o.Message == "" || o.Challenge == nil {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		bad := aam.Due{Requirement: x402.Requirement{Scheme: "exact", Network: "base-sepolia", MaxAmount: "50000", Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", PayTo: payTo}}
		var reason *x402.Reason
		if bad.Price, reason = bad.Requirement.Price(); reason != nil {
			t.Fatal(reason)
		}
		for member, v := range change {
			text, _ := v.(string)
			*map[string]*string{"scheme": &bad.Requirement.Scheme, "network": &bad.Requirement.Network, "asset": &bad.Requirement.Asset, "payTo": &bad.Requirement.PayTo, "maxAmountRequired": &bad.Requirement.MaxAmount}[member] = text
		}
		if price, reason := bad.Requirement.Price(); reason == nil {
			bad.Price = price // dearer than the manifest, on both sides
		}
		if _, err := e.Pay(t.Context(), m, e.at, call, bad, "", false); code(err) != aam.CodePaymentInvalid || e.paid() != 0 {
			t.Errorf("%s, asked for by a caller: %v, %d paid", name, err, e.paid())
		}
		if _, kept := e.ledger.Payment(call.ID); kept {
			t.Errorf("%s: it is in the ledger", name)
		}
	}
}

// TestPriceOfChallenge: a payment is of the price that the site's challenge has, whatever a caller says.
func TestPriceOfChallenge(t *testing.T) {
	t.Parallel()
	e, m := newPaid(t)
	call := reservation()
	due := e.due(t, m, call)
	for name, change := range map[string]func(*x402.Price){
		"amount":    func(p *x402.Price) { p.Amount, _ = x402.ParseAmount("50001") },
		"recipient": func(p *x402.Price) { p.PayTo[0]++ },
		"network":   func(p *x402.Price) { p.Network.ChainID++ },
	} {
		other := due
		change(&other.Price)
		if _, err := e.Pay(t.Context(), m, e.at, call, other, "", false); code(err) != aam.CodePaymentInvalid || e.paid() != 0 {
			t.Errorf("%s: %v, %d paid", name, err, e.paid())
		}
	}
}

// TestRealMoney: the program's key pays on the test network alone. On base the agent must bring a payment.
func TestRealMoney(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.site.manifest = strings.Replace(e.site.manifest, `"network": "base-sepolia"`, `"network": "base"`, 1)
	e.site.handle(reservePath, paidAction(offers(map[string]any{"network": "base", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"})))
	m := e.manifest(t)
	e.signIn(t, m)
	call := reservation()
	o, err := e.Invoke(t.Context(), m, e.at, call)
	due, has := o.Due()
	if err != nil || !has || *o.Payable || !strings.Contains(o.Message, "payment_proof") {
		t.Fatalf("%+v, %v", o, err)
	}
	if _, err := e.Pay(t.Context(), m, e.at, call, due, "", false); code(err) != aam.CodePaymentInvalid || e.paid() != 0 {
		t.Errorf("%v, %d paid", err, e.paid())
	}
}
