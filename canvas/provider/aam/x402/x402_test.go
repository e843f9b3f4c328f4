package x402_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

func load(t testing.TB, name string, out any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
}

// requirement is a requirement of a file, in x402's spelling.
type requirement struct {
	Scheme, Network, MaxAmountRequired, PayTo, Asset, Resource string
	MaxTimeoutSeconds                                          int
}

func (r requirement) requirement() x402.Requirement {
	return x402.Requirement{Scheme: r.Scheme, Network: r.Network, MaxAmount: r.MaxAmountRequired,
		PayTo: r.PayTo, Asset: r.Asset, Resource: r.Resource, MaxTimeout: r.MaxTimeoutSeconds}
}

type vectors struct {
	Requirement    requirement
	EvaluateAtUnix int64
	Cases          []struct {
		Name, Expect, Digest, Signer, XPaymentHeader string
		RequirementOverride                          *requirement
	}
}

// TestVectors holds the 13 payments that viem signed against their verdicts.
func TestVectors(t *testing.T) {
	var v vectors
	load(t, "eip3009_vectors_viem.json", &v)
	if len(v.Cases) != 13 {
		t.Fatalf("%d cases, want 13", len(v.Cases))
	}
	now := time.Unix(v.EvaluateAtUnix, 0)
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			req := v.Requirement
			if o := c.RequirementOverride; o != nil {
				_, reason := x402.Verify(req.requirement(), c.XPaymentHeader, now, nil)
				if reason == nil || reason.Code != x402.InvalidNetwork {
					t.Errorf("against the other network: %v", reason)
				}
				req.Network, req.Asset = o.Network, o.Asset
			}
			p, reason := x402.Verify(req.requirement(), c.XPaymentHeader, now, nil)
			got := "valid"
			if reason != nil {
				got = reason.Code
			}
			if got != c.Expect {
				t.Fatalf("got %q (%v), want %q", got, reason, c.Expect)
			}
			if reason == nil && hexOf(p.Data.Digest()) != c.Digest {
				t.Errorf("digest %s, want %s", hexOf(p.Data.Digest()), c.Digest)
			}
		})
	}
}

func hexOf(b [32]byte) string { return "0x" + hex.EncodeToString(b[:]) }

// TestSpecSample reads the challenge and the genuine payment of x402's specification.
func TestSpecSample(t *testing.T) {
	var v struct {
		PaymentRequirementsResponse json.RawMessage
		XPaymentHeader              string
		SettlementResponse          json.RawMessage
	}
	load(t, "x402_v1_spec_sample.json", &v)
	list, err := x402.ParseChallenge(v.PaymentRequirementsResponse)
	if err != nil || len(list) != 1 || list[0].MaxTimeout != 60 {
		t.Fatalf("challenge: %v, %v", list, err)
	}
	at := time.Unix(1740672100, 0)
	p, reason := x402.Verify(list[0], v.XPaymentHeader, at, nil)
	if reason != nil || p.Data.Authorization.From.String() != "0x857b06519E91e3A54538791bDbb0E22373e36b66" {
		t.Fatalf("verify: %v, from %s", reason, p.Data.Authorization.From)
	}
	used := map[x402.Nonce]bool{p.Nonce(): true}
	_, reason = x402.Verify(list[0], v.XPaymentHeader, at, func(n x402.Nonce) bool { return used[n] })
	if reason == nil || reason.Code != x402.InvalidState {
		t.Errorf("a used nonce: %v", reason)
	}
	r, err := x402.ParseReceipt(base64.StdEncoding.EncodeToString(v.SettlementResponse))
	if err != nil || !r.Success || r.Network != "base-sepolia" {
		t.Errorf("receipt: %+v, %v", r, err)
	}
}

// TestAAMChallenge reads AAM's spelling. The sample's addresses are abbreviated, so it is
// listed and cannot be paid.
func TestAAMChallenge(t *testing.T) {
	var v struct{ Body json.RawMessage }
	load(t, "aam_402_challenge.json", &v)
	list, err := x402.ParseChallenge(v.Body)
	if err != nil || len(list) != 1 || list[0].MaxAmount != "5000" || list[0].PayTo != "0xMerchant..." {
		t.Fatalf("challenge: %+v, %v", list, err)
	}
	if _, reason := list[0].Price(); reason == nil || reason.Code != x402.InvalidRequirements {
		t.Errorf("price: %v", reason)
	}
}

// TestBothSpellings reads what Body writes, each spelling alone, and prefers x402's.
func TestBothSpellings(t *testing.T) {
	req := x402.Requirement{Scheme: "exact", Network: "base", MaxAmount: "50000", MaxTimeout: 60, Resource: "/r",
		Asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}
	body := x402.Body("X-PAYMENT header is required", req)
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	for _, drop := range []string{"none", "accepts", "challenges"} {
		part := map[string]json.RawMessage{}
		for k, v := range members {
			if k != drop {
				part[k] = v
			}
		}
		raw, _ := json.Marshal(part)
		list, err := x402.ParseChallenge(raw)
		if err != nil || len(list) != 1 {
			t.Fatalf("without %s: %v, %v", drop, list, err)
		}
		p, reason := list[0].Price()
		if reason != nil || p.Amount.String() != "50000" {
			t.Errorf("without %s: %v %v", drop, p, reason)
		}
	}
	// In doubt the x402 one.
	mixed := strings.Replace(string(body), `"max_amount_required":"50000"`, `"max_amount_required":"1"`, 1)
	if list, err := x402.ParseChallenge([]byte(mixed)); err != nil || list[0].MaxAmount != "50000" {
		t.Errorf("both: %v, %v", list, err)
	}
	if _, err := x402.ParseChallenge([]byte(`{"error":"pay"}`)); !errors.Is(err, x402.ErrChallenge) {
		t.Errorf("neither: %v", err)
	}
	if _, err := x402.ParseChallenge([]byte(strings.Replace(string(body), `"x402Version":1`, `"x402Version":2`, 1))); err == nil || !strings.Contains(err.Error(), x402.InvalidVersion) {
		t.Errorf("version 2: %v", err)
	}
}

// TestMargin: a payment must be good for more than six seconds, so that it can be executed.
func TestMargin(t *testing.T) {
	t.Parallel()
	key, err := x402.ParseKey(devKey)
	if err != nil {
		t.Fatal(err)
	}
	req, price := sepolia(t)
	now := time.Unix(1780000000, 0)
	for left, want := range map[time.Duration]string{6 * time.Second: x402.InvalidValidBefore, 7 * time.Second: ""} {
		data, err := x402.Authorize(key.Account(), price, left, now)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := key.Sign(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, reason := x402.Verify(req, x402.Header(data, sig), now, nil); reason != nil {
			got = reason.Code
		}
		if got != want {
			t.Errorf("%s left: %q, want %q", left, got, want)
		}
	}
}

// TestUnpayable refuses what this package does not know, whatever the challenge calls it.
func TestUnpayable(t *testing.T) {
	good := x402.Requirement{Scheme: "exact", Network: "base", MaxAmount: "50000",
		Asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}
	if _, reason := good.Price(); reason != nil {
		t.Fatal(reason)
	}
	for name, change := range map[string]func(*x402.Requirement){
		x402.UnsupportedScheme:         func(r *x402.Requirement) { r.Scheme = "upto" },
		x402.InvalidNetwork:            func(r *x402.Requirement) { r.Network = "ethereum" },
		x402.InvalidRequirements:       func(r *x402.Requirement) { r.Asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e" },
		x402.InvalidRequirements + " ": func(r *x402.Requirement) { r.PayTo = "rosso.eth" },
		x402.InvalidRequirements + "2": func(r *x402.Requirement) { r.MaxAmount = "0.05" },
		x402.InvalidRequirements + "3": func(r *x402.Requirement) { r.MaxAmount = "1e3" },
		x402.InvalidRequirements + "4": func(r *x402.Requirement) { r.PayTo = "0x209693bC6afc0C5328bA36FaF03C514EF312287C" },
	} {
		r := good
		change(&r)
		if _, reason := r.Price(); reason == nil || !strings.HasPrefix(name, reason.Code) {
			t.Errorf("%s: %v", name, reason)
		}
	}
}

// TestMoneyIsExact sums a million prices, and reads amounts up to 78 digits.
func TestMoneyIsExact(t *testing.T) {
	price, err := x402.ParsePrice("0.05")
	if err != nil || price.String() != "50000" {
		t.Fatalf("%v, %v", price, err)
	}
	var sum x402.Amount
	for range 1_000_000 {
		var ok bool
		if sum, ok = sum.Add(price); !ok {
			t.Fatal("overflow")
		}
	}
	if sum.String() != "50000000000" || sum.Price() != "50000.00" {
		t.Errorf("sum %s, %s", sum, sum.Price())
	}
	max := "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	if a, err := x402.ParseAmount(max); err != nil || a.String() != max {
		t.Errorf("2^256-1: %v, %v", a, err)
	} else if _, ok := a.Add(price); ok {
		t.Error("2^256 is an amount")
	}
	for _, bad := range []string{"", "-1", "+1", "01", "1e3", "0x1", " 1", "1.0", max[:77] + "6"} {
		if a, err := x402.ParseAmount(bad); err == nil {
			t.Errorf("amount %q is %s", bad, a)
		}
	}
	for _, bad := range []string{"", ".", "1.", ".5", "0.0000001", "1e3", "-1", "00.5", "1,5", "1.5.0"} {
		if a, err := x402.ParsePrice(bad); err == nil {
			t.Errorf("price %q is %s", bad, a)
		}
	}
	for text, want := range map[string]string{"0": "0.00", "1": "1.00", "0.000001": "0.000001", "12.50": "12.50"} {
		if a, err := x402.ParsePrice(text); err != nil || a.Price() != want {
			t.Errorf("price %q is %s, %v", text, a.Price(), err)
		}
	}
}

const devKey = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" // a public key pair of test networks

func sepolia(t testing.TB) (x402.Requirement, x402.Price) {
	t.Helper()
	r := x402.Requirement{Scheme: "exact", Network: "base-sepolia", MaxAmount: "50000", MaxTimeout: 60,
		Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}
	p, reason := r.Price()
	if reason != nil {
		t.Fatal(reason)
	}
	return r, p
}

// TestKey signs what Verify accepts, for the test network alone, and is in no text.
func TestKey(t *testing.T) {
	key, err := x402.ParseKey("0x" + devKey)
	if err != nil || key.Account().String() != "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" {
		t.Fatalf("%v, %v", key, err)
	}
	req, price := sepolia(t)
	now := time.Unix(1780000000, 0)
	data, err := x402.Authorize(key.Account(), price, time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.Sign(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	p, reason := x402.Verify(req, x402.Header(data, sig), now, nil)
	if reason != nil || p.Data.Authorization != data.Authorization {
		t.Fatalf("verify: %v", reason)
	}
	if data.Authorization.ValidBefore.String() != "1780000060" || data.Authorization.Value != price.Amount {
		t.Errorf("authorization: %+v", data.Authorization)
	}
	long, _ := x402.Authorize(key.Account(), price, 24*time.Hour, now)
	if long.Authorization.ValidBefore.String() != "1780000600" || long.Authorization.Nonce == data.Authorization.Nonce {
		t.Errorf("authorization: %+v", long.Authorization)
	}
	base, _ := x402.NetworkOf(x402.Base)
	data.Network = base
	if _, err := key.Sign(t.Context(), data); !errors.Is(err, x402.ErrRealMoney) {
		t.Errorf("base: %v", err)
	}
	base.Test = true // a caller cannot talk it into another network either
	data.Network = base
	if _, err := key.Sign(t.Context(), data); !errors.Is(err, x402.ErrRealMoney) {
		t.Errorf("base as a test network: %v", err)
	}
	if _, err := x402.ParseKey(devKey[:63] + "g"); err == nil || strings.Contains(err.Error(), devKey[:8]) {
		t.Errorf("a bad key: %v", err)
	}
	for _, text := range []string{key.String(), key.GoString()} {
		if strings.Contains(text, devKey) {
			t.Error("the key is in its text")
		}
	}
}
