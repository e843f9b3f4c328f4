package site_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// records are a store's records as text.
func records(t *testing.T, s site.Store) (all map[string]string) {
	t.Helper()
	all = map[string]string{}
	if err := s.Load(context.Background(), func(key string, value []byte) error { all[key] = string(value); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRestart: tokens, codes, counts, the audit and payments survive; requests do not.
func TestRestart(t *testing.T) {
	t.Parallel()
	e := start(t)
	token, code := e.token(site.Grant{PerDay: 10, PerCall: "1"}), e.code(site.Grant{PerDay: 10})
	if got := e.call(token, "buy", "{}", "X-Payment", e.pay()); got.status != 200 {
		t.Fatal(got)
	}
	e.call("", "add_card", card)
	before := e.site.Audit("", 0)
	if err := e.site.Close(); err != nil {
		t.Fatal(err)
	}
	after := startOn(t, e.store)
	if got := after.site.Audit("", 0); len(got) != 2 || fmt.Sprint(got[0].ID, got[0].Status, got[1].ID) != fmt.Sprint(before[0].ID, before[0].Status, before[1].ID) {
		t.Errorf("the audit: %+v", got)
	}
	if n := after.site.Tokens()[0].UsedToday; n != 1 {
		t.Errorf("used today: %d", n)
	}
	if k := after.site.Payments(); len(k) != 1 || k[0].State != site.StateSigned {
		t.Errorf("payments: %+v", k)
	}
	after.exchange(code)
	if got := after.call(token, "add_card", card); got.status != 200 {
		t.Errorf("a call: %d", got.status)
	}
}

// TestRunningAtTheEnd: a call whose host ended is in the audit as unknown.
func TestRunningAtTheEnd(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 10})
	running, leave := make(chan struct{}), make(chan struct{})
	e.do = func(context.Context, site.Call) (ahp.Value, error) { close(running); <-leave; return nil, nil }
	ended := make(chan got)
	go func() { ended <- e.call(token, "add_card", card) }()
	<-running
	killed := site.Memory() // what the disk has now
	for key, value := range records(t, e.store) {
		if err := killed.Commit(t.Context(), site.Change{Key: key, Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	close(leave)
	<-ended
	after := startOn(t, killed)
	if r := after.site.Audit("", 0); len(r) != 1 || r[0].Result != "unknown" || after.site.Tokens()[0].UsedToday != 1 {
		t.Errorf("the audit: %+v", r)
	}
}

// TestSecretsNowhere: no token, code or proof is in the store (but for proofs that are
// still to be collected), in the log, or in what the owner sees.
func TestSecretsNowhere(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	e := start(t, func(_ *site.Config, o *site.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	code := e.code(site.Grant{PerDay: 10})
	open := e.code(site.Grant{PerDay: 10})
	token := e.exchange(code)
	proof := e.pay()
	e.call(token, "buy", `{"x":"parameter-1"}`, "X-Payment", proof)
	e.call(token+"0", "add_card", card)
	e.do = func(context.Context, site.Call) (ahp.Value, error) { return nil, fmt.Errorf("it failed") }
	e.call(token, "add_card", card)
	if err := e.site.Close(); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"the log": log.String(), "the owner's lists": string(ahp.MustMarshal([]any{e.site.Tokens(), e.site.Pending(), e.site.Payments(), e.site.Audit("", 0)}))}
	for key, value := range records(t, e.store) {
		texts["record "+key] = key + value
	}
	for name, text := range texts {
		for what, secret := range map[string]string{"token": token, "token without its prefix": token[4:], "code": code, "open code": open, "payment": proof, "parameter": "parameter-1"} {
			if strings.Contains(text, secret) && !(what == "payment" && strings.HasPrefix(name, "record payment/")) {
				t.Errorf("%s has the %s", name, what)
			}
		}
	}
}

// TestAuditRow: a row has exactly the members of AAM, and run_id.
func TestAuditRow(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 10})
	e.call(token, "buy", "{}", "X-Payment", e.pay())
	r := e.site.Newest(1)[0]
	r.ID, r.Time, r.Payment.Payer = "evt_1", time.Time{}, "0x1"
	want := `{"id":"evt_1","ts":"0001-01-01T00:00:00Z","tenant_slug":"caferosso.example","action_id":"buy","action_kind":"paid","agent_vendor":"phone.example",` +
		`"user_hash":"4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581","scopes_used":["buy"],"result":"ok","status":200,"latency_ms":0,` +
		`"payment":{"scheme":"x402","network":"base-sepolia","amount":"50000","payer":"0x1"},"run_id":"run_2wd2k7j3"}`
	if got := string(ahp.MustMarshal(r)); got != want {
		t.Errorf("%s", got)
	}
}

// TestAuditBounded: strangers cannot push the rows of agents out, and old rows go.
func TestAuditBounded(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Rows = 20 })
	token := e.token(site.Grant{PerDay: 100})
	e.call(token, "add_card", card)
	for range 30 {
		e.call("", "add_card", card)
	}
	if rows := e.site.Audit("", 0); len(rows) != 3 || rows[0].Result != "ok" {
		t.Errorf("%d rows", len(rows))
	}
	if err := e.site.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for key := range records(t, e.store) {
		if strings.HasPrefix(key, "row/") {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d rows on disk", n)
	}
	after := startOn(t, e.store, func(_ *site.Config, o *site.Options) {
		o.Now = func() time.Time { return time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC) }
	})
	if rows := after.site.Audit("", 0); len(rows) != 0 {
		t.Errorf("%d rows are 90 days old", len(rows))
	}
}

// TestManyTokens: agents are limited, and those that ended make space.
func TestManyTokens(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Tokens = 2 })
	e.token(site.Grant{Days: 1})
	e.token(site.Grant{Days: 2})
	e.request("vendor=" + vendor)
	id := e.site.Pending()[0].ID
	if _, err := e.site.Approve(id, site.Grant{}); err == nil {
		t.Error("a third agent was let in")
	}
	e.pass(24 * time.Hour)
	e.request("vendor=" + vendor)
	if _, err := e.site.Approve(e.site.Pending()[0].ID, site.Grant{}); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	for name, g := range map[string]site.Grant{"unknown action": {Actions: []string{"x"}}, "negative": {PerDay: -1}, "long": {Days: 1000}, "no amount": {PerCall: "1e3"}} {
		e.request("vendor=" + vendor)
		p := e.site.Pending()
		if _, err := e.site.Approve(p[len(p)-1].ID, g); err == nil {
			t.Errorf("%s: granted", name)
		}
		if len(e.site.Pending()) != len(p) {
			t.Errorf("%s: the request is gone", name)
		}
	}
}
