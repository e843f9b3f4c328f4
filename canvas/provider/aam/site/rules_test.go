package site_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// TestDay: counts are of a calendar day, UTC, and a refusal says how long it lasts.
func TestDay(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 1})
	if got := e.call(token, "add_card", card); got.status != 200 {
		t.Fatal(got)
	}
	e.pass(11*time.Hour + 59*time.Minute) // 23:59
	if got := e.call(token, "add_card", card); got.status != 429 || got.header.Get("Retry-After") != "60" {
		t.Errorf("within the day: %d, Retry-After %s", got.status, got.header.Get("Retry-After"))
	}
	e.pass(time.Minute)
	if got := e.call(token, "add_card", card); got.status != 200 || e.site.Tokens()[0].UsedToday != 1 {
		t.Errorf("the next day: %d %s", got.status, got.body)
	}
}

// TestTokenEnds: a token is good for 30 days unless the owner says otherwise, and is then
// gone from the store too.
func TestTokenEnds(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 100})
	e.pass(30*24*time.Hour - time.Second)
	if got := e.call(token, "add_card", card); got.status != 200 {
		t.Errorf("a second before: %d", got.status)
	}
	e.pass(time.Second)
	if got := e.call(token, "add_card", card); got.status != 401 || len(e.site.Tokens()) != 0 {
		t.Errorf("after 30 days: %d", got.status)
	}
	if err := e.site.Close(); err != nil {
		t.Fatal(err)
	}
	for key := range records(t, e.store) {
		if strings.HasPrefix(key, "token/") {
			t.Error("the token is in the store")
		}
	}
}

// TestCodeForm: a code has no letters that look alike, and is read as a person types it.
func TestCodeForm(t *testing.T) {
	t.Parallel()
	e := start(t)
	form := regexp.MustCompile(`^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$`)
	for _, typed := range []func(string) string{
		strings.ToLower,
		func(s string) string { return strings.ReplaceAll(s, "-", "") },
		func(s string) string { return "  " + strings.ReplaceAll(strings.ToLower(s), "-", " ") + " " },
	} {
		code := e.code(site.Grant{PerDay: 10})
		if !form.MatchString(code) {
			t.Errorf("code %q", code)
		}
		e.exchange(typed(code))
	}
}

// TestRunIDs: the audit has the agent's name for a run if it is one, and a new one otherwise.
func TestRunIDs(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 100})
	for sent, kept := range map[string]bool{"run_Az-9_": true, "": false, "maria@example.com": false, "run_" + strings.Repeat("a", 65): false, "run_a b": false} {
		got := e.call(token, "add_card", card, "X-Agent-Run-Id", sent)
		id := e.site.Newest(1)[0].RunID
		if got.status != 200 || (id == sent) != kept || !strings.HasPrefix(id, "run_") || !strings.Contains(got.body, `"run_id":"`+id+`"`) {
			t.Errorf("%q: %q, %s", sent, id, got.body)
		}
	}
}

// TestAnyone: people of an issuer that anyone can have are counted apart, have five calls a
// day, and their credentials are good for 31 days whatever they say.
func TestAnyone(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	e := start(t, func(c *site.Config, _ *site.Options) {
		c.Identity = []site.Identity{{Issuer: i.srv.URL, JWKSURL: i.srv.URL + "/jwks", Scopes: map[string]string{"write:cards": "add_card"}, Anyone: true}}
	})
	as := func(sub string) string {
		return i.sign(i.claims(e, map[string]any{"sub": sub, "exp": e.clock().Add(365 * 24 * time.Hour).Unix()}))
	}
	bob := as("bob@example.com")
	for n := range 6 {
		if got, want := e.call(bob, "add_card", card).status, map[bool]int{true: 200, false: 429}[n < 5]; got != want {
			t.Errorf("call %d: %d, want %d", n, got, want)
		}
	}
	if got := e.call(as("carol@example.com"), "add_card", card); got.status != 200 {
		t.Errorf("another person: %d %s", got.status, got.body)
	}
	if got := e.call(as("BOB@example.com"), "add_card", card); got.status != 429 {
		t.Errorf("the same person in capitals: %d", got.status)
	}
	e.pass(24 * time.Hour)
	if got := e.call(bob, "add_card", card); got.status != 200 {
		t.Errorf("the next day: %d %s", got.status, got.body)
	}
	if err := e.site.Close(); err != nil {
		t.Fatal(err)
	}
	people := 0
	for key := range records(t, e.store) {
		if strings.HasPrefix(key, "person/") {
			people++
		}
	}
	if people != 1 {
		t.Errorf("%d people are kept, who called today or not", people)
	}
	later := startOn(t, e.store, func(c *site.Config, _ *site.Options) { c.Identity = e.config.Identity })
	later.pass(31 * 24 * time.Hour)
	if got := later.call(bob, "add_card", card); got.status != 401 {
		t.Errorf("after 31 days: %d", got.status)
	}
}

// TestNoncesKept: a payment stays used for a day after its end, and is then forgotten.
func TestNoncesKept(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 1000})
	nonces := func() (n int) {
		for key := range records(t, e.store) {
			if strings.HasPrefix(key, "nonce/") {
				n++
			}
		}
		return n
	}
	pay := func() {
		t.Helper()
		if got := e.call(token, "buy", "{}", "X-Payment", e.pay()); got.status != 200 {
			t.Fatal(got)
		}
	}
	pay()
	e.pass(24 * time.Hour) // its end was ten minutes after it was signed
	pay()
	if n := nonces(); n != 2 {
		t.Errorf("%d payments are known, not 2", n)
	}
	e.pass(2 * time.Hour)
	pay()
	if n := nonces(); n != 2 {
		t.Errorf("%d payments are known, and one is over for more than a day", n)
	}
}

// TestVendorList: a site that lists vendors lets no others in, also with a credential of a trusted issuer.
func TestVendorList(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	e := start(t, func(c *site.Config, _ *site.Options) {
		c.Vendors = []string{"other.example"}
		c.Identity = []site.Identity{{Issuer: i.srv.URL, JWKSURL: i.srv.URL + "/jwks", Scopes: map[string]string{"write:cards": "add_card"}, Anyone: true}}
	})
	if got := e.call(i.sign(i.claims(e, nil)), "add_card", card); got.status != 403 || e.ran.Load() != 0 {
		t.Errorf("a vendor that is not listed: %d %s", got.status, got.body)
	}
	listed := i.sign(i.claims(e, map[string]any{"agent_vendor": "other.example"}))
	if got := e.call(listed, "add_card", card, "X-Agent-Vendor", "other.example"); got.status != 200 {
		t.Errorf("a listed one: %d %s", got.status, got.body)
	}
}

// TestVendorIsNoAddress: an e-mail address is not a vendor, at no place where one could come in: the
// audit has none, also not of a trusted issuer.
func TestVendorIsNoAddress(t *testing.T) {
	t.Parallel()
	const address = "maria@example.com"
	i := newIssuer(t)
	e := start(t, func(c *site.Config, _ *site.Options) {
		c.Identity = []site.Identity{{Issuer: i.srv.URL, JWKSURL: i.srv.URL + "/jwks", Scopes: map[string]string{"write:cards": "add_card"}, Anyone: true}}
	})
	token := e.token(site.Grant{PerDay: 10})
	for name, secret := range map[string]string{"credential": i.sign(i.claims(e, map[string]any{"agent_vendor": address})), "token": token} {
		got := e.call(secret, "add_card", card, "X-Agent-Vendor", address)
		if got.status != 400 || got.code() != site.CodeBadRequest {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := e.send("POST", site.PathAuthorize, "vendor="+address+"&actions=add_card", map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": e.url}); got.status != 400 || len(e.site.Pending()) != 0 {
		t.Errorf("a request: %d, %d wait", got.status, len(e.site.Pending()))
	}
	if rows := string(ahp.MustMarshal(e.site.Newest(9))); strings.Contains(rows, "maria") || len(e.site.Newest(9)) != 2 {
		t.Errorf("the audit: %s", rows)
	}
}

// TestAgentLeaves: an action whose count was taken runs to its end if the agent leaves.
func TestAgentLeaves(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 5})
	ctx, leave := context.WithCancel(t.Context())
	e.do = func(ctx context.Context, c site.Call) (ahp.Value, error) {
		leave()
		return c.Input, ctx.Err()
	}
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, e.url+site.PathActions+"add_card", strings.NewReader(card))
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "X-Agent-Vendor": {vendor}}
	w := httptest.NewRecorder()
	e.site.Handler().ServeHTTP(w, req)
	if r := e.site.Newest(1)[0]; w.Code != 200 || r.Result != "ok" {
		t.Errorf("%d %s, row %+v", w.Code, w.Body, r)
	}
}

// TestClaimedVendor: what a stranger claims as its vendor is in the audit, and with the
// action, only if it can be a vendor's name.
func TestClaimedVendor(t *testing.T) {
	t.Parallel()
	e := start(t)
	var vendors []string
	e.do = func(_ context.Context, c site.Call) (ahp.Value, error) {
		vendors = append(vendors, c.Vendor)
		return nil, nil
	}
	for claim, want := range map[string]string{vendor: vendor, "maria@example.com": "", "<b>bank": "", "my bank": "", strings.Repeat("a", 500): ""} {
		for action, status := range map[string]int{"add_card": 401, "hours": 200} {
			vendors = nil
			got := e.call("", action, card, "X-Agent-Vendor", claim)
			if r := e.site.Newest(1)[0]; got.status != status || r.Vendor != want || status == 200 && (len(vendors) != 1 || vendors[0] != want) {
				t.Errorf("%.20q: %d, row %q, action %q", claim, got.status, r.Vendor, vendors)
			}
		}
	}
}
