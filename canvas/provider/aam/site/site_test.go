package site_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

const card = `{"title":"Milk"}`

// TestStory is the way of an agent: 401, request, approval, code, token, call, 402, signed
// retry, the last count, audit, revoke, 401.
func TestStory(t *testing.T) {
	t.Parallel()
	e := start(t)
	first := e.call("", "add_card", card)
	if first.status != 401 || first.code() != site.CodeUnauthorized || first.header.Get("WWW-Authenticate") != "Bearer" ||
		!strings.Contains(first.body, `"consent_url":"`+e.url+`/agent/authorize"`) || !strings.Contains(first.body, `"per_site_consent"`) {
		t.Fatalf("without a token: %d %s", first.status, first.body)
	}
	if got := e.send("GET", site.PathAuthorize+"?vendor="+vendor+"&actions=add_card,buy", "", nil); got.status != 200 || !strings.Contains(got.body, vendor) || len(e.site.Pending()) != 0 {
		t.Fatalf("the page: %d %s", got.status, got.body)
	}
	filed := e.request("vendor=" + vendor + "&actions=add_card,buy")
	pending := e.site.Pending()
	if filed.status != 200 || len(pending) != 1 || !strings.Contains(filed.body, `id="number">`+pending[0].ID) {
		t.Fatalf("the request: %d %s", filed.status, filed.body)
	}
	code, err := e.site.Approve(pending[0].ID, site.Grant{PerDay: 3})
	if err != nil || len(e.site.Pending()) != 0 {
		t.Fatal(err)
	}
	token := e.exchange(" " + strings.ToLower(strings.ReplaceAll(code, "-", " ")))
	if got := e.call(token, "add_card", card); got.status != 200 || got.body != `{"ok":true,"data":{"title":"Milk"},"run_id":"run_2wd2k7j3"}` {
		t.Fatalf("a call: %d %s", got.status, got.body)
	}
	unpaid := e.call(token, "buy", `{}`)
	reqs, err := x402.ParseChallenge([]byte(unpaid.body))
	if unpaid.status != 402 || unpaid.header.Get("X-Payment-Required") != "x402" || err != nil || reqs[0].MaxAmount != "50000" || reqs[0].Resource != e.url+"/api/aam/actions/buy" {
		t.Fatalf("unpaid: %d %s", unpaid.status, unpaid.body)
	}
	proof := e.pay()
	if got := e.call(token, "buy", `{}`, "X-Payment", proof); got.status != 200 {
		t.Fatalf("paid: %d %s", got.status, got.body)
	}
	if got := e.call(token, "buy", `{}`, "X-Payment", proof); got.status != 402 || !strings.Contains(got.body, x402.InvalidState) {
		t.Errorf("paid with the same payment: %d %s", got.status, got.body)
	}
	if got := e.call(token, "add_card", card); got.status != 200 {
		t.Fatalf("the last call: %d %s", got.status, got.body)
	}
	if got := e.call(token, "add_card", card); got.status != 429 || got.header.Get("Retry-After") != "43200" {
		t.Errorf("one too many: %d %s", got.status, got.body)
	}
	e.pass(12 * time.Hour) // another day
	if got := e.call(token, "add_card", card); got.status != 200 {
		t.Errorf("the next day: %d %s", got.status, got.body)
	}
	if err := e.site.Revoke(e.site.Tokens()[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := e.call(token, "add_card", card); got.status != 401 {
		t.Errorf("revoked: %d", got.status)
	}
	var results []string
	for _, r := range e.site.Audit("", 0) {
		results = append(results, fmt.Sprint(r.Action, " ", r.Result, " ", r.Status))
	}
	if got := strings.Join(results, ", "); got != "add_card unauthorized 401, add_card ok 200, buy payment_required 402, buy ok 200, buy invalid_transaction_state 402, add_card ok 200, add_card limit_exceeded 429, add_card ok 200, add_card unauthorized 401" {
		t.Errorf("the audit: %s", got)
	}
	if e.ran.Load() != 4 {
		t.Errorf("%d actions ran", e.ran.Load())
	}
}

// TestConditions is the table of what is answered when.
func TestConditions(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{Actions: []string{"add_card", "buy"}, PerDay: 1000, PerCall: "1"})
	narrow := e.token(site.Grant{Actions: []string{"add_card"}, PerDay: 1000})
	cheap := e.token(site.Grant{PerDay: 1000, PerCall: "0.04"})
	h := func(more ...string) map[string]string {
		m := map[string]string{"Authorization": "Bearer " + token, "X-Agent-Vendor": vendor}
		for n := 0; n < len(more); n += 2 {
			m[more[n]] = more[n+1]
		}
		return m
	}
	for name, c := range map[string]struct {
		got    got
		status int
		code   string
	}{
		"no credential":           {e.call("", "add_card", card), 401, "unauthorized"},
		"unknown token":           {e.call("agt_"+strings.Repeat("0", 64), "add_card", card), 401, "unauthorized"},
		"not a bearer":            {e.call("", "add_card", card, "Authorization", "Basic "+token), 401, "unauthorized"},
		"a host's token":          {e.call("0123456789abcdef", "add_card", card), 401, "unauthorized"},
		"other vendor":            {e.call(token, "add_card", card, "X-Agent-Vendor", "other.example"), 403, "forbidden"},
		"no vendor":               {e.call(token, "add_card", card, "X-Agent-Vendor", ""), 400, "missing_header"},
		"not in scope":            {e.call(narrow, "buy", "{}"), 403, "forbidden"},
		"too dear":                {e.call(cheap, "buy", "{}"), 403, "limit_exceeded"},
		"unknown action":          {e.call(token, "nothing", "{}"), 404, "not_found"},
		"path elsewhere":          {e.send("GET", "/ahp", "", nil), 404, "not_found"},
		"params do not fit":       {e.call(token, "add_card", `{"title":7}`), 400, "invalid_params"},
		"unknown member":          {e.call(token, "add_card", `{"title":"a","x":1}`), 400, "invalid_params"},
		"two members of one name": {e.call(token, "add_card", `{"title":"a","title":"b"}`), 400, "invalid_params"},
		"invalid UTF-8":           {e.call(token, "add_card", "{\"title\":\"\xff\"}"), 400, "invalid_params"},
		"depth 65":                {e.call(token, "buy", strings.Repeat(`{"a":`, 65)+"1"+strings.Repeat("}", 65)), 400, "invalid_params"},
		"no object":               {e.call(token, "buy", "[]"), 400, "invalid_params"},
		"no JSON":                 {e.call(token, "add_card", "title=a"), 400, "invalid_params"},
		"too large":               {e.call(token, "add_card", `{"title":"`+strings.Repeat("a", 64<<10)+`"}`), 413, "too_large"},
		"type of content":         {e.call(token, "add_card", card, "Content-Type", "text/plain"), 415, "unsupported_media_type"},
		"a form":                  {e.call(token, "add_card", card, "Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type"},
		"payment malformed":       {e.call(token, "buy", "{}", "X-Payment", "?"), 400, "invalid_payload"},
		"wrong host":              {e.call(token, "add_card", card, "Host", "other.example"), 421, "misdirected_request"},
		"page of another site":    {e.call(token, "add_card", card, "Origin", "https://evil.example"), 403, "forbidden"},
		"script of another site":  {e.call(token, "add_card", card, "Sec-Fetch-Site", "cross-site"), 403, "forbidden"},
		"GET of an action":        {e.send("GET", site.PathActions+"add_card", "", h()), 405, "method_not_allowed"},
		"wrong code":              {e.send("POST", site.PathToken, `{"code":"AAAA-AAAA"}`, nil), 400, "invalid_code"},
		"revoke without a token":  {e.send("POST", site.PathRevoke, "", nil), 401, "unauthorized"},
	} {
		if c.got.status != c.status || c.got.code() != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, c.got.status, c.got.body, c.status, c.code)
		}
	}
	if e.ran.Load() != 0 {
		t.Errorf("%d actions ran", e.ran.Load())
	}
	if n := e.site.Tokens()[0].UsedToday; n != 0 {
		t.Errorf("refused calls were counted: %d", n)
	}
	if got := e.call(token, "add_card", `{"title":7}`); !strings.Contains(got.body, `"path":"/title"`) || !strings.Contains(got.body, `"rule":"type"`) {
		t.Errorf("no path: %s", got.body)
	}
	if got := e.call("", "hours", "{}", "X-Agent-Vendor", ""); got.status != 200 {
		t.Errorf("a public action needs something: %d %s", got.status, got.body)
	}
	if got := e.call(token, "add_card", card, "X-Payment", "?"); got.status != 200 {
		t.Errorf("a free action with a payment: %d", got.status)
	}
	if r := e.site.Newest(1)[0]; r.Payment == nil || r.Payment.Scheme != "ignored" {
		t.Errorf("the row does not say that a payment was ignored: %+v", r)
	}
	if got := e.send("POST", site.PathRevoke, "", h()); got.status != 200 || e.call(token, "add_card", card).status != 401 {
		t.Errorf("an agent cannot give its token up: %d", got.status)
	}
}

// TestTwoHeaders: a repeated header is refused.
func TestTwoHeaders(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 10})
	for _, name := range []string{"Authorization", "X-Payment", "X-Agent-Vendor"} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", e.url+site.PathActions+"buy", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + token}, "X-Agent-Vendor": {vendor}, "Content-Type": {"application/json"}, "X-Payment": {e.pay()}}
		req.Header[name] = append(req.Header[name], req.Header[name][0])
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 400 {
			t.Errorf("two %s: %d", name, resp.StatusCode)
		}
	}
	if e.ran.Load() != 0 {
		t.Error("an action ran")
	}
}

// TestFailures: how an action's failure is answered.
func TestFailures(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Run = 50 * time.Millisecond })
	token := e.token(site.Grant{PerDay: 100})
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"its own words": {&site.Failure{Status: 422, Code: "full", Message: "the list is full"}, 422, "action_failed"},
		"some error":    {errors.New("password hunter2"), 502, "action_failed"},
		"unavailable":   {&site.Failure{Status: 503, Message: "closed"}, 503, "unavailable"},
		"too slow":      {context.DeadlineExceeded, 504, "timeout"},
	} {
		e.do = func(ctx context.Context, _ site.Call) (ahp.Value, error) {
			if errors.Is(c.err, context.DeadlineExceeded) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, c.err
		}
		got := e.call(token, "add_card", card)
		if got.status != c.status || got.code() != c.code || strings.Contains(got.body, "hunter2") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if n := e.site.Tokens()[0].UsedToday; n != 4 {
		t.Errorf("%d failed calls were counted, not 4", n)
	}
}

// TestPayments: what is wrong with a payment, in x402's words.
func TestPayments(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 1000})
	at := func(d time.Duration) x402.Amount {
		a, _ := x402.ParseAmount(fmt.Sprint(e.clock().Add(d).Unix()))
		return a
	}
	for name, c := range map[string]struct {
		change func(*x402.Authorization)
		word   string
	}{
		"right":                 {func(*x402.Authorization) {}, ""},
		"more than the price":   {func(a *x402.Authorization) { a.Value, _ = x402.ParseAmount("50001") }, ""},
		"less than the price":   {func(a *x402.Authorization) { a.Value, _ = x402.ParseAmount("49999") }, x402.InvalidValue},
		"to another":            {func(a *x402.Authorization) { a.To = a.From }, x402.InvalidRecipient},
		"not good yet":          {func(a *x402.Authorization) { a.ValidAfter = at(time.Minute) }, x402.InvalidValidAfter},
		"over":                  {func(a *x402.Authorization) { a.ValidBefore = at(5 * time.Second) }, x402.InvalidValidBefore},
		"over before the batch": {func(a *x402.Authorization) { a.ValidBefore = at(4 * time.Minute) }, x402.InvalidValidBefore},
	} {
		got := e.call(token, "buy", "{}", "X-Payment", e.pay(c.change))
		if c.word == "" && got.status != 200 || c.word != "" && (got.status != 402 || !strings.Contains(got.body, `"error":"`+c.word+`"`)) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	kept := e.site.Payments()
	if len(kept) != 2 || kept[0].State != site.StateSigned || kept[0].Payment.Proof != nil {
		t.Errorf("kept: %+v", kept)
	}
	if _, err := e.site.Collect(t.Context()); !errors.Is(err, site.ErrNoFacilitator) {
		t.Errorf("collecting without a facilitator: %v", err)
	}
}

// TestConfig: what no site starts with.
func TestConfig(t *testing.T) {
	t.Parallel()
	base := `{"listen":"127.0.0.1:0","origin":"https://board.example","site":{"name":"Board","domain":"board.example"},` +
		`"settle":{"facilitator":"https://f.example"},"actions":[{"id":"add_card","extension":"board","canvas":"board","instance":"board","action":"add_card","pricing":{"type":"x402","amount":"0.05","currency":"USDC","network":"base","pay_to":"` + payTo + `"}}]}`
	if _, err := site.ParseConfig([]byte(base)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"unknown member":            {`"listen"`, `"listens"`},
		"unknown member of a price": {`"network"`, `"tax":"1","network"`},
		"wrong case":                {`"listen"`, `"Listen"`},
		"http":                      {"https://board.example", "http://board.example"},
		"origin with a path":        {"https://board.example", "https://board.example/a"},
		"own extension":             {`"extension":"board"`, `"extension":"aam"`},
		"seven decimals":            {`"0.05"`, `"0.0500001"`},
		"exponent":                  {`"0.05"`, `"1e3"`},
		"negative":                  {`"0.05"`, `"-1"`},
		"a number":                  {`"0.05"`, `0.05`},
		"nothing":                   {`"0.05"`, `"0"`},
		"bad checksum":              {payTo, "0x209693bc6afc0C5328bA36FaF03C514EF312287C"},
		"no recipient":              {`,"pay_to":"` + payTo + `"`, ``},
		"unknown network":           {`"network":"base"`, `"network":"solana"`},
		"public with a price":       {`"id":"add_card"`, `"id":"add_card","public":true`},
		"two ids":                   {`"actions":[`, `"actions":[{"id":"add_card"},`},
		"id with a slash":           {`"id":"add_card"`, `"id":"add/card"`},
		"settled later":             {`{"facilitator":"https://f.example"}`, `"later"`},
		"ends before the batch":     {`{"facilitator":"https://f.example"}`, `{"later":"15m"}`},
		"no settlement":             {`"settle":{"facilitator":"https://f.example"},`, ``},
		"http facilitator":          {"https://f.example", "http://f.example"},
		"identity without subjects": {`"settle"`, `"identity":[{"issuer":"https://i.example","jwks_url":"https://i.example/j","scopes":{"a":"add_card"}}],"settle"`},
		"scope without action":      {`"settle"`, `"identity":[{"issuer":"https://i.example","jwks_url":"https://i.example/j","anyone":true,"scopes":{"a":"b"}}],"settle"`},
	} {
		text := strings.Replace(base, change[0], change[1], 1)
		if _, err := site.ParseConfig([]byte(text)); err == nil || text == base {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, change := range map[string][2]string{
		"this machine":       {"https://board.example", "http://127.0.0.1:8080"},
		"free":               {`{"type":"x402","amount":"0.05","currency":"USDC","network":"base","pay_to":"` + payTo + `"}`, `"free"`},
		"outlives the batch": {`{"facilitator":"https://f.example"}`, `{"later":"5m"}`},
		"longer":             {`{"facilitator":"https://f.example"}`, `{"later":"15m","valid":"1h"}`},
	} {
		if _, err := site.ParseConfig([]byte(strings.Replace(base, change[0], change[1], 1))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
