package site_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// FuzzRequest: whatever comes with a right token or without one, the answer is JSON or a
// page, no server error, and an action with a price runs only if it was paid.
func FuzzRequest(f *testing.F) {
	var s *site.Site
	paidRuns := 0
	c := site.Config{
		Origin: "https://a.example", Site: site.Info{Name: "a", Domain: "a.example"}, Settle: &site.Settle{Later: site.Duration(time.Minute)},
		Actions: []site.Action{{ID: "free", Input: ahp.Value(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}, {ID: "buy", Pricing: priced}, {ID: "open", Public: true}},
	}
	s, err := site.New(c, site.Func(func(_ context.Context, c site.Call) (ahp.Value, error) {
		if c.Action.ID == "buy" {
			paidRuns++
		}
		return c.Input, nil
	}), nil, site.Options{Limits: site.Limits{Rows: 100}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	serve := func(r *http.Request) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r.Host = "a.example"
		s.Handler().ServeHTTP(w, r)
		return w
	}
	ask := httptest.NewRequest("POST", site.PathAuthorize, strings.NewReader("vendor="+vendor))
	ask.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {c.Origin}}
	serve(ask)
	code, err := s.Approve(s.Pending()[0].ID, site.Grant{PerDay: 1 << 30})
	if err != nil {
		f.Fatal(err)
	}
	exchange := httptest.NewRequest("POST", site.PathToken, strings.NewReader(`{"code":"`+code+`"}`))
	exchange.Header = http.Header{"Content-Type": {"application/json"}}
	_, rest, _ := strings.Cut(serve(exchange).Body.String(), `"access_token":"`)
	token := rest[:68]

	f.Add("POST", site.PathActions+"free", `{"n":1}`, "", token)
	f.Add("POST", site.PathActions+"buy", `{}`, "eyJ4NDAyVmVyc2lvbiI6MX0=", token)
	f.Add("POST", site.PathActions+"open", `{}`, "", "eyJhbGciOiJub25lIn0.e30.")
	f.Add("POST", site.PathToken, `{"code":"KQ7F-M2XW"}`, "", "")
	f.Add("GET", site.PathAuthorize+"?vendor=a&actions=free", "", "", "")
	f.Fuzz(func(t *testing.T, method, path, body, payment, credential string) {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(method+path, " \t\r\n\x00") || method == "" {
			return
		}
		r, err := http.NewRequest(method, "https://a.example"+path, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "X-Agent-Vendor": {vendor}}
		if credential != "" {
			r.Header.Set("Authorization", "Bearer "+credential)
		}
		if payment != "" {
			r.Header.Set("X-Payment", payment)
		}
		w := serve(r)
		if w.Code >= 500 || w.Code < 300 && paidRuns > 0 {
			t.Errorf("%s %s: %d %s, %d paid runs", method, path, w.Code, w.Body, paidRuns)
		}
		if kind := w.Header().Get("Content-Type"); kind == "application/json" && !ahp.Value(w.Body.Bytes()).IsValid() {
			t.Errorf("%s %s: no JSON: %s", method, path, w.Body)
		}
	})
}
