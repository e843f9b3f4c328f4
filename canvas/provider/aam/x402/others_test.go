package x402_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// smartAccount is a payment that a smart account has signed: 97 bytes that only its
// contract understands.
func smartAccount(t *testing.T) (x402.Requirement, string, time.Time, x402.TypedData) {
	t.Helper()
	req, price := sepolia(t)
	from, err := x402.ParseAddress("0x857b06519E91e3A54538791bDbb0E22373e36b66")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1780000000, 0)
	data, err := x402.Authorize(from, price, time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	return req, x402.Header(data, []byte(strings.Repeat("\x07", 97))), now, data
}

// node is a fake node whose contract accepts one digest.
func node(t *testing.T, chain string, accept [32]byte, answer string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Method string
			Params []json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			t.Error(err)
		}
		if call.Method == "eth_chainId" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%q}`, chain)
			return
		}
		var tx struct{ To, Data string }
		_ = json.Unmarshal(call.Params[0], &tx)
		want := "0x1626ba7e" + hex.EncodeToString(accept[:]) + fmt.Sprintf("%064x%064x", 64, 97) + strings.Repeat("07", 97) + strings.Repeat("00", 31)
		if tx.Data != want || tx.To != "0x857b06519E91e3A54538791bDbb0E22373e36b66" {
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"execution reverted"}}`)
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestSmartAccounts: a smart account's signature is refused without a node, checked with
// one, and passes unchecked only for a facilitator.
func TestSmartAccounts(t *testing.T) {
	t.Parallel()
	req, header, now, data := smartAccount(t)
	if _, reason := x402.Verify(req, header, now, nil); reason == nil || reason.Code != x402.InvalidPayload || !strings.Contains(reason.Message, "smart accounts cannot be checked here") {
		t.Errorf("without a node: %v", reason)
	}
	if p, reason := (x402.Verifier{Facilitated: true}).Verify(t.Context(), req, header, now); reason != nil || !p.Unchecked {
		t.Errorf("for a facilitator: %v", reason)
	}
	yes := `{"jsonrpc":"2.0","id":1,"result":"0x1626ba7e` + strings.Repeat("0", 56) + `"}`
	digest, wrong := data.Digest(), [32]byte{1}
	for name, c := range map[string]struct{ url, code string }{
		"accepts":           {node(t, "0x14a34", digest, yes), ""},
		"another digest":    {node(t, "0x14a34", wrong, yes), x402.InvalidSignature},
		"no contract there": {node(t, "0x14a34", digest, `{"jsonrpc":"2.0","id":1,"result":"0x"}`), x402.InvalidSignature},
		"another answer":    {node(t, "0x14a34", digest, `{"jsonrpc":"2.0","id":1,"result":"0xffffffff`+strings.Repeat("0", 56)+`"}`), x402.InvalidSignature},
		"another chain":     {node(t, "0x1", digest, yes), x402.UnexpectedVerify},
		"error":             {node(t, "0x14a34", digest, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000}}`), x402.UnexpectedVerify},
		"no JSON":           {node(t, "0x14a34", digest, `<html>`), x402.UnexpectedVerify},
		"away":              {"http://127.0.0.1:1", x402.UnexpectedVerify},
	} {
		v := x402.Verifier{Accounts: &x402.Nodes{URLs: map[string]string{x402.BaseSepolia: c.url}, HTTP: http.DefaultClient}}
		_, reason := v.Verify(t.Context(), req, header, now)
		got := ""
		if reason != nil {
			got = reason.Code
		}
		if got != c.code {
			t.Errorf("%s: %v", name, reason)
		}
	}
	if _, reason := (x402.Verifier{Accounts: &x402.Nodes{HTTP: http.DefaultClient}}).Verify(t.Context(), req, header, now); reason == nil || reason.Code != x402.UnexpectedVerify {
		t.Errorf("no node for the network: %v", reason)
	}
}

// TestFacilitator: what a facilitator is sent, and each way in which it can fail.
func TestFacilitator(t *testing.T) {
	t.Parallel()
	req, header, now, _ := smartAccount(t)
	p, reason := (x402.Verifier{Facilitated: true}).Verify(t.Context(), req, header, now)
	if reason != nil {
		t.Fatal(reason)
	}
	var answer, got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.URL.Path + " " + string(body)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(srv.Close)
	f := &x402.Facilitator{URL: srv.URL + "/", HTTP: http.DefaultClient}
	answer = `{"isValid":true,"payer":"0x857b06519E91e3A54538791bDbb0E22373e36b66"}`
	if err := f.Verify(t.Context(), p); err != nil || !strings.HasPrefix(got, `/verify {"x402Version":1,"paymentPayload":{"x402Version":1,`) || !strings.Contains(got, `"paymentRequirements":{"scheme":"exact","network":"base-sepolia","maxAmountRequired":"50000"`) {
		t.Errorf("verify: %v, %s", err, got)
	}
	answer = `{"success":true,"transaction":"0xabc","network":"base-sepolia","payer":"0x857b06519E91e3A54538791bDbb0E22373e36b66"}`
	if s, err := f.Settle(t.Context(), p); err != nil || s.Transaction != "0xabc" || !strings.HasPrefix(got, "/settle ") {
		t.Errorf("settle: %+v, %v", s, err)
	}
	for _, c := range []struct {
		answer, code string
		refusal      bool
	}{
		{`{"isValid":false,"success":false,"invalidReason":"insufficient_funds","errorReason":"insufficient_funds"}`, "insufficient_funds", true},
		{`{"isValid":false,"success":false}`, "unexpected", true},
		{`{"isValid":false,"success":true,"transaction":"","network":"base-sepolia"}`, "", false},
		{`{"isValid":false,"success":true,"transaction":"0x1","network":"base"}`, "", false},
		{`<html>`, "no JSON", false},
		{`{"pad":"` + strings.Repeat("x", 70<<10) + `"}`, "cannot be reached", false},
	} {
		answer = c.answer
		if err := f.Verify(t.Context(), p); err == nil {
			t.Errorf("%.60s: verified", c.answer)
		}
		_, err := f.Settle(t.Context(), p)
		_, refusal := err.(*x402.Reason)
		if err == nil || refusal != c.refusal || !strings.Contains(err.Error(), c.code) {
			t.Errorf("%.60s: %v", c.answer, err)
		}
	}
}

// wallet writes a wallet program.
func wallet(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	path := filepath.Join(t.TempDir(), "wallet")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const walletAddress = `case "$1 $2" in "address base"|"address base-sepolia") echo 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266; exit;; esac
`

// TestWallet: a wallet program gets typed data, and its signature must be the account's.
func TestWallet(t *testing.T) {
	t.Parallel()
	base, _ := x402.NetworkOf(x402.Base)
	key, err := x402.ParseKey(devKey)
	if err != nil {
		t.Fatal(err)
	}
	_, price := sepolia(t)
	data, err := x402.Authorize(key.Account(), price, time.Minute, time.Unix(1780000000, 0))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.Sign(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := x402.OpenWallet(t.Context(), wallet(t, walletAddress+`cat > "`+dir+`/typed.json"; echo 0x`+hex.EncodeToString(sig)))
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := w.Address(base); !ok || a != key.Account() {
		t.Errorf("address: %v %v", a, ok)
	}
	if got, err := w.Sign(t.Context(), data); err != nil || string(got) != string(sig) {
		t.Errorf("sign: %x, %v", got, err)
	}
	if raw, err := os.ReadFile(dir + "/typed.json"); err != nil || string(raw) != string(data.JSON()) {
		t.Errorf("typed data: %s, %v", raw, err)
	}
	data.Authorization.Value = x402.Amount{} // the wallet signed something else
	if _, err := w.Sign(t.Context(), data); err == nil {
		t.Error("a signature of something else was taken")
	}
	for name, script := range map[string]string{
		"refuses": "exit 1", "prints nothing": "true", "prints much": "yes", "is short": "echo 0x07", "two lines": "echo 0x07; echo 0x08",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		w, err := x402.OpenWallet(ctx, wallet(t, walletAddress+strings.Replace(script, "yes", "head -c 100000 /dev/zero", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.Sign(ctx, data); err == nil {
			t.Errorf("%s: %x", name, got)
		}
		cancel()
	}
	if _, err := x402.OpenWallet(t.Context(), wallet(t, "exit 1")); err == nil {
		t.Error("a wallet without an address")
	}
}

// FuzzPayment looks for a header that panics, or that is valid and is no vector.
func FuzzPayment(f *testing.F) {
	var v vectors
	load(f, "eip3009_vectors_viem.json", &v)
	valid := map[string]bool{}
	for _, c := range v.Cases {
		f.Add(c.XPaymentHeader)
		if p, reason := x402.Verify(v.Requirement.requirement(), c.XPaymentHeader, time.Unix(v.EvaluateAtUnix, 0), nil); reason == nil {
			valid[p.Nonce().String()] = true
		}
	}
	f.Fuzz(func(t *testing.T, header string) {
		p, reason := x402.Verify(v.Requirement.requirement(), header, time.Unix(v.EvaluateAtUnix, 0), nil)
		if reason == nil && !valid[p.Nonce().String()] {
			t.Errorf("valid: %q", header)
		}
	})
}

// FuzzChallenge looks for a body of a 402 that panics.
func FuzzChallenge(f *testing.F) {
	r, _ := sepolia(f)
	f.Add([]byte(x402.Body("pay", r)))
	f.Add([]byte(`{"x402_version":"0.1","challenges":[{"scheme":"exact"}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		list, err := x402.ParseChallenge(body)
		if err != nil {
			return
		}
		for _, r := range list {
			_, _ = r.Price()
		}
	})
}
