package aam_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// due signs in, calls once and returns what is to be paid.
func (e *env) due(t testing.TB, m *aam.Manifest, call aam.Call) aam.Due {
	t.Helper()
	o, err := e.Invoke(t.Context(), m, e.at, call)
	if err != nil {
		t.Fatal(err)
	}
	due, ok := o.Due()
	if !ok {
		t.Fatalf("nothing to pay: %+v", o)
	}
	return due
}

func newPaid(t testing.TB) (*env, *aam.Manifest) {
	e := newEnv(t)
	e.site.handle(reservePath, paidAction(challenge("50000", false)))
	m := e.manifest(t)
	e.signIn(t, m)
	return e, m
}

// paid counts the requests with a payment.
func (e *env) paid() (n int) {
	for _, r := range e.site.got(reservePath) {
		if r.header.Get("X-Payment") != "" {
			n++
		}
	}
	return n
}

// TestDearer signs nothing above the manifest's price, on another network or for another
// recipient.
func TestDearer(t *testing.T) {
	for _, c := range []struct{ old, new, amount, want string }{
		{"", "", "500000", "asks 0.50, its manifest says 0.05"},
		{`"network": "base-sepolia"`, `"network": "base"`, "50000", "asks for base-sepolia, its manifest says base"},
		{`"amount": "0.05"`, `"amount": "0.05","pay_to":"0x857b06519E91e3A54538791bDbb0E22373e36b66"`, "50000", "asks to pay " + payTo},
		{`"type": "x402"`, `"type": "stripe"`, "50000", "no price"},
	} {
		e := newEnv(t)
		e.site.manifest = strings.Replace(e.site.manifest, c.old, c.new, 1)
		e.site.handle(reservePath, paidAction(challenge(c.amount, true)))
		m := e.manifest(t)
		e.signIn(t, m)
		o, err := e.Invoke(t.Context(), m, e.at, reservation())
		if _, has := o.Due(); err != nil || has || *o.Payable || !strings.Contains(o.Message, c.want) || o.Challenge == nil {
			t.Errorf("%s: %+v, %v", c.want, o, err)
		}
		if e.paid() != 0 {
			t.Errorf("%s: a payment left", c.want)
		}
	}
}

// TestPaidOnce pays for a call once, whatever came of it, also after a restart.
func TestPaidOnce(t *testing.T) {
	e, m := newPaid(t)
	call := reservation()
	due := e.due(t, m, call)
	e.site.handle(reservePath, challenge("50000", false)) // a second 402
	if _, err := e.Pay(t.Context(), m, e.at, call, due, "", false); code(err) != aam.CodePaymentInvalid {
		t.Errorf("a second 402: %v", err)
	}
	if i, _ := e.ledger.Payment(call.ID); i.State != aam.StateRefused {
		t.Errorf("ledger: %+v", i)
	}
	again, err := aam.OpenLedger(filepath.Join(e.dir, "payments.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, _ := x402.ParseKey(devKey)
	restarted := aam.New(aam.Options{HTTP: http.DefaultClient, Vendor: "anthropic.com", Vault: e.vault, Ledger: again, Signer: signer})
	for _, c := range []*aam.Client{e.Client, restarted} {
		if _, err := c.Pay(t.Context(), m, e.at, call, due, "", false); code(err) != aam.CodePaymentInvalid {
			t.Errorf("again: %v", err)
		}
	}
	if e.paid() != 1 {
		t.Errorf("%d payments left, want 1", e.paid())
	}
}

// TestParallelPay pays for one call from 100 callers at once: one payment leaves.
func TestParallelPay(t *testing.T) {
	e, m := newPaid(t)
	call := reservation()
	due := e.due(t, m, call)
	var wg sync.WaitGroup
	var done atomic.Int32
	for range 100 {
		wg.Go(func() {
			if _, err := e.Pay(t.Context(), m, e.at, call, due, "", false); err == nil {
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if done.Load() != 1 || e.paid() != 1 {
		t.Errorf("%d succeeded, %d payments left; want 1", done.Load(), e.paid())
	}
}

// TestBudget spends a budget from 100 callers at once: as many are paid as it covers.
func TestBudget(t *testing.T) {
	at := "https://caferosso.com"
	amount := func(s string) x402.Amount {
		a, err := x402.ParsePrice(s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	now := time.Date(2026, 5, 2, 23, 0, 0, 0, time.UTC)
	var clock atomic.Int64
	clock.Store(now.Unix())
	path := filepath.Join(t.TempDir(), "payments.json")
	l, err := aam.OpenLedger(path, func() time.Time { return time.Unix(clock.Load(), 0) })
	if err != nil {
		t.Fatal(err)
	}
	intent := func(n int) aam.Intent {
		return aam.Intent{Call: fmt.Sprint("call ", n), Site: at, Amount: amount("0.05"), Network: "base", Nonce: x402.Word{byte(n), byte(n >> 8)}}
	}
	if err := l.Begin(intent(0), true); !errors.Is(err, aam.ErrBudget) {
		t.Errorf("without a budget: %v", err)
	}
	if err := l.SetBudget(at, aam.Budget{Call: amount("0.05"), Day: amount("0.29")}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var paid atomic.Int32
	for n := range 100 {
		wg.Go(func() {
			switch err := l.Begin(intent(n+1), true); {
			case err == nil:
				paid.Add(1)
			case !errors.Is(err, aam.ErrBudget):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, spent, _ := l.Budget(at); paid.Load() != 5 || spent.Price() != "0.25" {
		t.Errorf("%d paid, %s spent; want 5 and 0.25", paid.Load(), spent.Price())
	}
	clock.Add(3600) // the next day, UTC
	dear := intent(200)
	dear.Amount = amount("0.06")
	if err := l.Begin(dear, true); !errors.Is(err, aam.ErrBudget) {
		t.Errorf("above the most of a call: %v", err)
	}
	if err := l.Begin(intent(201), true); err != nil {
		t.Errorf("the next day: %v", err)
	}
	// After a restart, the payments are unknown, and nothing is paid without a person.
	again, err := aam.OpenLedger(path, func() time.Time { return time.Unix(clock.Load(), 0) })
	if err != nil || len(again.Unknown(at)) != 6 {
		t.Fatalf("%d unknown, %v", len(again.Unknown(at)), err)
	}
	if err := again.Begin(intent(202), true); !errors.Is(err, aam.ErrBudget) {
		t.Errorf("with unknown payments: %v", err)
	}
	if err := again.MarkRead(at); err != nil {
		t.Fatal(err)
	}
	if err := again.Begin(intent(203), true); err != nil {
		t.Errorf("after they were read: %v", err)
	}
}

// TestLostPayment has a site that takes the payment and closes the connection.
func TestLostPayment(t *testing.T) {
	e, m := newPaid(t)
	call := reservation()
	due := e.due(t, m, call)
	e.site.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	})
	if _, err := e.Pay(t.Context(), m, e.at, call, due, "", false); code(err) != aam.CodeOutcomeUnknown {
		t.Errorf("lost: %v", err)
	}
	if u := e.ledger.Unknown(e.at.String()); len(u) != 1 || u[0].Call != call.ID || e.paid() != 1 {
		t.Errorf("unknown: %+v, %d payments", u, e.paid())
	}
}

// TestProof takes a payment that the agent brought, if it is one of the challenge, once.
func TestProof(t *testing.T) {
	e, m := newPaid(t)
	call := reservation()
	due := e.due(t, m, call)
	key, _ := x402.ParseKey(devKey)
	proof := func(change func(*x402.Authorization)) string {
		data, err := x402.Authorize(key.Account(), due.Price, time.Minute, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		change(&data.Authorization)
		sig, err := key.Sign(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		return x402.Header(data, sig)
	}
	more, _ := x402.ParsePrice("0.06")
	for name, bad := range map[string]string{
		"nothing":   "x",
		"more":      proof(func(a *x402.Authorization) { a.Value = more }),
		"less":      proof(func(a *x402.Authorization) { a.Value = x402.Amount{} }),
		"recipient": proof(func(a *x402.Authorization) { a.To[0]++ }),
		"expired":   proof(func(a *x402.Authorization) { a.ValidBefore = more }),
		"signature": proof(func(*x402.Authorization) {})[:400] + "AAAA",
	} {
		if _, err := e.Pay(t.Context(), m, e.at, call, due, bad, false); code(err) != aam.CodePaymentInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := proof(func(*x402.Authorization) {})
	if _, err := e.Pay(t.Context(), m, e.at, call, due, good, false); err != nil {
		t.Fatal(err)
	}
	call.ID = aam.CallID()
	if _, err := e.Pay(t.Context(), m, e.at, call, due, good, false); code(err) != aam.CodePaymentInvalid || e.paid() != 1 {
		t.Errorf("the same payment for another call: %v", err)
	}
}

// refusing is a wallet whose person says no.
type refusing struct{ x402.Key }

func (refusing) Sign(context.Context, x402.TypedData) ([]byte, error) {
	return nil, errors.New("no")
}

// TestNoSignature sends nothing and keeps nothing if the wallet does not sign.
func TestNoSignature(t *testing.T) {
	e, m := newPaid(t)
	call := reservation()
	due := e.due(t, m, call)
	key, _ := x402.ParseKey(devKey)
	c := aam.New(aam.Options{HTTP: http.DefaultClient, Vendor: "anthropic.com", Vault: e.vault, Ledger: e.ledger, Signer: refusing{key}})
	if _, err := c.Pay(t.Context(), m, e.at, call, due, "", false); code(err) != aam.CodeDeclined || e.paid() != 0 {
		t.Errorf("refused: %v", err)
	}
	if _, ok := e.ledger.Payment(call.ID); ok {
		t.Error("a payment that was not signed is in the ledger")
	}
	if _, err := e.Pay(t.Context(), m, e.at, call, due, "", false); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestKilled kills a process with a payment under way, at several moments: the payment of
// the call is unknown or was never made, and no second one can follow.
func TestKilled(t *testing.T) {
	if os.Getenv("AAM_KILLED_DIR") != "" {
		killedChild()
		return
	}
	rounds := 4
	if os.Getenv("AHP_LONG") != "" {
		rounds = 50
	}
	for round := range rounds {
		e, m := newPaid(t)
		arrived := make(chan struct{}, 1)
		hold := make(chan struct{})
		e.site.handle(reservePath, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Payment") == "" {
				challenge("50000", false)(w, r)
				return
			}
			arrived <- struct{}{}
			<-hold // it never answers
		})
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "AAM_KILLED_DIR="+e.dir, "AAM_KILLED_SITE="+e.site.URL)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 { // while the site works
			<-arrived
		} else { // when the child says that it begins to pay
			_, _ = bufio.NewReader(out).ReadString('\n')
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		close(hold)
		l, err := aam.OpenLedger(filepath.Join(e.dir, "payments.json"), nil)
		if err != nil {
			t.Fatal(err)
		}
		i, intended := l.Payment("killed")
		sent := e.paid()
		if intended && i.State != aam.StateUnknown || !intended && sent > 0 || sent > 1 {
			t.Fatalf("round %d: %d payments left, ledger %+v", round, sent, i)
		}
		if round%2 == 0 && !intended {
			t.Fatalf("round %d: the payment is not in the ledger", round)
		}
		if !intended {
			continue
		}
		signer, _ := x402.ParseKey(devKey)
		c := aam.New(aam.Options{HTTP: http.DefaultClient, Vendor: "anthropic.com", Vault: e.vault, Ledger: l, Signer: signer})
		call := reservation()
		call.ID = "killed"
		if _, err := c.Pay(t.Context(), m, e.at, call, e.due(t, m, reservation()), "", false); code(err) != aam.CodePaymentInvalid || e.paid() != sent {
			t.Fatalf("round %d: after the restart: %v, %d payments", round, err, e.paid())
		}
	}
}

// killedChild pays for the call "killed", and prints a line before.
func killedChild() {
	dir := os.Getenv("AAM_KILLED_DIR")
	key, err := aam.LoadKey(filepath.Join(dir, "key"))
	check(err)
	vault, err := aam.OpenVault(filepath.Join(dir, "secrets.json"), key)
	check(err)
	ledger, err := aam.OpenLedger(filepath.Join(dir, "payments.json"), nil)
	check(err)
	signer, err := x402.ParseKey(devKey)
	check(err)
	c := aam.New(aam.Options{HTTP: http.DefaultClient, Vendor: "anthropic.com", Vault: vault, Ledger: ledger, Signer: signer})
	at, err := aam.ParseSite(os.Getenv("AAM_KILLED_SITE"), true)
	check(err)
	m, _, err := c.Discover(context.Background(), at)
	check(err)
	call := reservation()
	call.ID = "killed"
	o, err := c.Invoke(context.Background(), m, at, call)
	check(err)
	due, _ := o.Due()
	fmt.Println("paying")
	_, _ = c.Pay(context.Background(), m, at, call, due, "", false)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// TestCheckout: a hosted checkout is a link for the person, and the next call brings its
// reference. A reference is never sent where x402 pays.
func TestCheckout(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.site.manifest = strings.Replace(e.site.manifest, `"type": "x402"`, `"type": "checkout"`, 1)
	e.site.handle(reservePath, func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-Payment") {
		case "chk_1":
			fmt.Fprint(w, `{"ok":true}`)
		default:
			w.WriteHeader(http.StatusPaymentRequired)
			fmt.Fprint(w, `{"error":"pay","type":"checkout","checkout_url":"https://checkout.example/p/1","reference":"chk_1"}`)
		}
	})
	m := e.manifest(t)
	call := reservation()
	o, err := e.Invoke(t.Context(), m, e.at, call)
	if err != nil || o.Kind != aam.Payment || o.CheckoutURL != "https://checkout.example/p/1" || *o.Payable {
		t.Fatalf("first: %+v, %v", o, err)
	}
	call.Reference = o.Reference
	if o, err = e.Invoke(t.Context(), m, e.at, call); err != nil || o.Kind != aam.Done {
		t.Errorf("paid: %+v, %v", o, err)
	}
	call.Reference = "a\r\nb"
	if _, err := e.Invoke(t.Context(), m, e.at, call); code(err) != aam.CodePaymentInvalid {
		t.Errorf("no reference: %v", err)
	}
	for _, body := range []string{`{"checkout_url":"http://checkout.example/","reference":"r"}`, `{"checkout_url":"javascript:alert(1)","reference":"r"}`, `{"checkout_url":"https://u@checkout.example/","reference":"r"}`} {
		e.site.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(402); fmt.Fprint(w, body) })
		if o, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil || o.CheckoutURL != "" {
			t.Errorf("%s: %+v, %v", body, o, err)
		}
	}
	paid, m := newPaid(t)
	call = reservation()
	call.Reference = "chk_1"
	if o, err := paid.Invoke(t.Context(), m, paid.at, call); err != nil || o.Kind != aam.Payment || paid.paid() != 0 {
		t.Errorf("x402: %+v, %v", o, err)
	}
}
