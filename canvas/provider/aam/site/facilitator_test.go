package site_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// facilitator answers as one does, or fails at a step.
type facilitator struct {
	srv            *httptest.Server
	verify, settle atomic.Pointer[string] // answers in place of the right ones; "" hangs up
	settled        atomic.Int64
}

func newFacilitator(t testing.TB) *facilitator {
	f := &facilitator{}
	f.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, instead := `{"isValid":true}`, f.verify.Load()
		if r.URL.Path == "/settle" {
			f.settled.Add(1)
			answer, instead = `{"success":true,"transaction":"0xabc","network":"base-sepolia"}`, f.settle.Load()
		}
		if instead != nil {
			answer = *instead
		}
		if answer == "" {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(f.srv.Close)
	return f
}

// TestFacilitator: a payment is collected before the action runs; a failure at any step is
// 402, nothing runs, no count is used, and the payment is not taken again.
func TestFacilitator(t *testing.T) {
	t.Parallel()
	f := newFacilitator(t)
	e := start(t, func(c *site.Config, _ *site.Options) { c.Settle = &site.Settle{Facilitator: f.srv.URL} })
	token := e.token(site.Grant{PerDay: 100})
	got := e.call(token, "buy", "{}", "X-Payment", e.pay())
	receipt, err := x402.ParseReceipt(got.header.Get("X-Payment-Response"))
	if got.status != 200 || err != nil || receipt.Transaction != "0xabc" || e.ran.Load() != 1 {
		t.Fatalf("%d %s %+v %v", got.status, got.body, receipt, err)
	}
	if r := e.site.Newest(1)[0]; r.Payment.Transaction != "0xabc" {
		t.Errorf("the row: %+v", r.Payment)
	}
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		verify, settle *string
		word           string
	}{
		"verify refuses":     {text(`{"isValid":false,"invalidReason":"insufficient_funds"}`), nil, "insufficient_funds"},
		"verify hangs up":    {text(""), nil, "unexpected_settle_error"},
		"verify is no JSON":  {text("<html>"), nil, "unexpected_settle_error"},
		"settle refuses":     {nil, text(`{"success":false,"errorReason":"insufficient_funds"}`), "insufficient_funds"},
		"settle hangs up":    {nil, text(""), "unexpected_settle_error"},
		"settle elsewhere":   {nil, text(`{"success":true,"transaction":"0x1","network":"base"}`), "unexpected_settle_error"},
		"settle says little": {nil, text(`{"success":true}`), "unexpected_settle_error"},
	} {
		f.verify.Store(c.verify)
		f.settle.Store(c.settle)
		proof := e.pay()
		got := e.call(token, "buy", "{}", "X-Payment", proof)
		if got.status != 402 || !strings.Contains(got.body, c.word) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		f.verify.Store(nil)
		f.settle.Store(nil)
		if again := e.call(token, "buy", "{}", "X-Payment", proof); again.status != 402 {
			t.Errorf("%s: the payment is taken again", name)
		}
	}
	if e.ran.Load() != 1 || e.site.Tokens()[0].UsedToday != 1 {
		t.Errorf("%d runs, %d counted", e.ran.Load(), e.site.Tokens()[0].UsedToday)
	}
	e.do = failAction
	if got := e.call(token, "buy", "{}", "X-Payment", e.pay()); got.status != 502 || !strings.Contains(got.body, `"payment":{"settled":true}`) {
		t.Errorf("an action that fails after it was paid: %d %s", got.status, got.body)
	}
}

// TestCollect: kept payments are collected once; one whose outcome is unknown is not sent
// again, also after a restart.
func TestCollect(t *testing.T) {
	t.Parallel()
	f := newFacilitator(t)
	settle := func(c *site.Config, _ *site.Options) {
		c.Settle = &site.Settle{Facilitator: f.srv.URL, Later: site.Duration(5 * time.Minute)}
	}
	e := start(t, settle)
	token := e.token(site.Grant{PerDay: 100})
	pay := func() {
		t.Helper()
		if got := e.call(token, "buy", "{}", "X-Payment", e.pay()); got.status != 200 || got.header.Get("X-Payment-Response") != "" {
			t.Fatal(got)
		}
	}
	collect := func(e *env, want site.Collected) {
		t.Helper()
		if got, err := e.site.Collect(t.Context()); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	pay()
	pay()
	collect(e, site.Collected{Collected: 2})
	collect(e, site.Collected{})
	hangUp := ""
	f.settle.Store(&hangUp)
	pay()
	collect(e, site.Collected{Unknown: 1})
	f.settle.Store(nil)
	collect(e, site.Collected{})
	pay()
	e.pass(time.Hour)
	collect(e, site.Collected{Failed: 1}) // it has ended
	if n := f.settled.Load(); n != 3 {
		t.Errorf("the facilitator was asked %d times", n)
	}
	if err := e.site.Close(); err != nil {
		t.Fatal(err)
	}
	after := startOn(t, e.store, settle)
	collect(after, site.Collected{})
	if k := after.site.Payments(); len(k) != 4 || k[0].State != site.StateCollected || k[0].Transaction != "0xabc" || k[2].State != site.StateUnknown {
		t.Errorf("%+v", k)
	}
}

// smartPayment is a payment of the priced action that a smart account has signed: 97 bytes that only its
// contract understands.
func (e *env) smartPayment() string {
	e.t.Helper()
	network, _ := x402.NetworkOf(x402.BaseSepolia)
	amount, err1 := x402.ParsePrice(priced.Amount)
	to, err2 := x402.ParseAddress(payTo)
	from, err3 := x402.ParseAddress("0x857b06519E91e3A54538791bDbb0E22373e36b66")
	data, err4 := x402.Authorize(from, x402.Price{Network: network, Amount: amount, PayTo: to}, 10*time.Minute, e.clock())
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		e.t.Fatal(err)
	}
	return x402.Header(data, []byte(strings.Repeat("\x07", 97)))
}

// TestSmartAccountsAtSite: nothing runs for a smart account's signature that nothing has checked. A node checks it,
// or the facilitator collects the payment before the action.
func TestSmartAccountsAtSite(t *testing.T) {
	t.Parallel()
	f := newFacilitator(t)
	node := func(result string) map[string]string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), "eth_chainId") {
				fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":"0x14a34"}`)
				return
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%q}`, result)
		}))
		t.Cleanup(srv.Close)
		return map[string]string{x402.BaseSepolia: srv.URL}
	}
	accepts := node("0x1626ba7e" + strings.Repeat("0", 56))
	later := site.Duration(5 * time.Minute)
	for name, c := range map[string]struct {
		settle  site.Settle
		status  int
		word    string
		settled int64
	}{
		"later":                       {site.Settle{Later: later}, 400, "smart accounts cannot be checked here", 0},
		"later, by a facilitator":     {site.Settle{Later: later, Facilitator: f.srv.URL}, 400, "smart accounts cannot be checked here", 0},
		"later, a node accepts":       {site.Settle{Later: later, Nodes: accepts}, 200, "", 0},
		"later, a node refuses":       {site.Settle{Later: later, Nodes: node("0x")}, 402, x402.InvalidSignature, 0},
		"later, a node of nothing":    {site.Settle{Later: later, Nodes: map[string]string{x402.BaseSepolia: "http://127.0.0.1:1"}}, 402, x402.UnexpectedVerify, 0},
		"a facilitator collects":      {site.Settle{Facilitator: f.srv.URL}, 200, "", 1},
		"a facilitator, node refuses": {site.Settle{Facilitator: f.srv.URL, Nodes: node("0x")}, 402, x402.InvalidSignature, 0},
	} {
		before := f.settled.Load()
		e := start(t, func(o *site.Config, _ *site.Options) { o.Settle = &c.settle })
		got := e.call(e.token(site.Grant{PerDay: 10}), "buy", "{}", "X-Payment", e.smartPayment())
		if got.status != c.status || !strings.Contains(got.body, c.word) || e.ran.Load() == 1 != (c.status == 200) || f.settled.Load()-before != c.settled {
			t.Errorf("%s: %d %s, %d runs, %d collected", name, got.status, got.body, e.ran.Load(), f.settled.Load()-before)
		}
	}
}
