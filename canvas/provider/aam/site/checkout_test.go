package site_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// TestCheckout: a hosted page takes the money, and its reference is good once.
func TestCheckout(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	paid, link := map[string]bool{}, "https://pay.example/"
	e := start(t, func(c *site.Config, o *site.Options) {
		c.Actions[1].Pricing = aam.Pricing{Type: site.TypeCheckout, Amount: "12.50", Currency: "EUR"}
		o.Rails = map[string]site.Rail{site.TypeCheckout: &site.Checkout{
			Open: func(_ context.Context, _ site.Offer, ref string) (string, error) { return link + ref, nil },
			Paid: func(_ context.Context, _ site.Offer, ref string) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				return paid[ref], nil
			},
		}}
	})
	token := e.token(site.Grant{PerDay: 100})
	got := e.call(token, "buy", "{}")
	var body struct {
		URL       string    `json:"checkout_url"`
		Reference string    `json:"reference"`
		Rest      ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal([]byte(got.body), &body); err != nil || got.status != 402 || got.header.Get("X-Payment-Required") != "checkout" || body.URL != link+body.Reference {
		t.Fatalf("%d %s %v", got.status, got.body, err)
	}
	if got := e.call(token, "buy", "{}", "X-Payment", body.Reference); got.status != 402 || e.ran.Load() != 0 {
		t.Errorf("before it was paid: %d", got.status)
	}
	mu.Lock()
	paid[body.Reference] = true
	mu.Unlock()
	if got := e.call(token, "buy", "{}", "X-Payment", body.Reference); got.status != 200 {
		t.Errorf("paid: %d %s", got.status, got.body)
	}
	if got := e.call(token, "buy", "{}", "X-Payment", body.Reference); got.status != 402 || e.ran.Load() != 1 {
		t.Errorf("a second time: %d", got.status)
	}
	link = "http://pay.example/"
	if got := e.call(token, "buy", "{}"); got.status != 402 || strings.Contains(got.body, "http://pay") {
		t.Errorf("a link that is not https: %s", got.body)
	}
}

// TestConsent: a site that has users shows its own page, and the token is its
// user's.
func TestConsent(t *testing.T) {
	t.Parallel()
	var user string
	e := start(t, func(_ *site.Config, o *site.Options) {
		o.Consent = func(w http.ResponseWriter, r *http.Request, ask site.Ask) {
			if r.Method == http.MethodGet || r.PostFormValue("session") != "maria's" {
				http.Error(w, "sign in to let "+ask.Vendor+" do "+strings.Join(ask.Actions, " and "), http.StatusUnauthorized)
				return
			}
			code, err := ask.Approve(site.Grant{User: "maria", PerDay: 2})
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write([]byte(code))
		}
	})
	e.do = func(_ context.Context, c site.Call) (ahp.Value, error) { user = c.User; return nil, nil }
	if got := e.send("GET", site.PathAuthorize+"?vendor="+vendor, "", nil); got.status != 401 || !strings.Contains(got.body, "phone.example do add_card and buy") {
		t.Errorf("%d %s", got.status, got.body)
	}
	form := url.Values{"vendor": {vendor}, "actions": {"add_card"}, "session": {"maria's"}}
	code := e.request(form.Encode())
	if code.status != 200 || len(e.site.Pending()) != 0 {
		t.Fatal(code)
	}
	if got := e.call(e.exchange(code.body), "add_card", card); got.status != 200 || user != "maria" {
		t.Errorf("%d, user %q", got.status, user)
	}
}
