package site_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

const (
	vendor = "phone.example"
	payTo  = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
)

var priced = aam.Pricing{Type: aam.X402, Amount: "0.05", Currency: "USDC", Network: x402.BaseSepolia, PayTo: payTo}

// env is a site on a real listener, with a clock that the test moves.
type env struct {
	t      testing.TB
	site   *site.Site
	store  site.Store
	config site.Config
	url    string
	ran    atomic.Int64

	mu  sync.Mutex
	now time.Time
	do  func(ctx context.Context, c site.Call) (ahp.Value, error) // nil echoes the input
}

func (e *env) clock() time.Time { e.mu.Lock(); defer e.mu.Unlock(); return e.now }

func (e *env) pass(d time.Duration) { e.mu.Lock(); defer e.mu.Unlock(); e.now = e.now.Add(d) }

// Execute implements site.Executor.
func (e *env) Execute(ctx context.Context, c site.Call) (ahp.Value, error) {
	e.ran.Add(1)
	if e.do != nil {
		return e.do(ctx, c)
	}
	return c.Input, nil
}

// start starts a site with a free action, one with a price and a public one.
func start(t testing.TB, change ...func(*site.Config, *site.Options)) *env {
	t.Helper()
	return startOn(t, nil, change...)
}

// startOn starts a site on a store, at 12:00 of a day.
func startOn(t testing.TB, store site.Store, change ...func(*site.Config, *site.Options)) *env {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, store: store, url: "http://" + ln.Addr().String(), now: time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)}
	if e.store == nil {
		e.store = site.Memory()
	}
	e.config = site.Config{
		Origin: e.url, Site: site.Info{Name: "Cafe Rosso", Domain: "caferosso.example"},
		Actions: []site.Action{
			{ID: "add_card", Description: "Adds a card.", Input: ahp.Value(`{"type":"object","properties":{"title":{"type":"string","maxLength":20}},"required":["title"],"additionalProperties":false}`)},
			{ID: "buy", Description: "Buys one.", Pricing: priced},
			{ID: "hours", Public: true},
		},
		Settle: &site.Settle{Later: site.Duration(5 * time.Minute)},
	}
	o := site.Options{Now: e.clock}
	for _, fn := range change {
		fn(&e.config, &o)
	}
	if e.site, err = site.New(e.config, e, e.store, o); err != nil {
		_ = ln.Close()
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: ln, Config: &http.Server{Handler: e.site.Handler()}}
	srv.Start()
	t.Cleanup(func() { srv.Close(); _ = e.site.Close() })
	return e
}

// got is an answer.
type got struct {
	status int
	header http.Header
	body   string
	t      testing.TB
}

// get returns a member of the body, by a name or by "error.code".
func (g got) code() string {
	var b struct {
		Error struct {
			Code string    `json:"code,omitzero"`
			Rest ahp.Value `json:",embed"`
		} `json:"error,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	_ = ahp.Unmarshal([]byte(g.body), &b)
	return b.Error.Code
}

// send sends a request.
func (e *env) send(method, path, body string, header map[string]string) got {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		e.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		req.Header.Set(name, header[name])
		if name == "Host" {
			req.Host = header[name]
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		e.t.Error(err)
		return got{t: e.t}
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(raw), e.t}
}

// call calls an action with a token.
func (e *env) call(token, action, input string, more ...string) got {
	e.t.Helper()
	h := map[string]string{"X-Agent-Vendor": vendor, "X-Agent-Run-Id": "run_2wd2k7j3"}
	if token != "" {
		h["Authorization"] = "Bearer " + token
	}
	for n := 0; n+1 < len(more); n += 2 {
		h[more[n]] = more[n+1]
	}
	return e.send("POST", site.PathActions+action, input, h)
}

// request files a request, as a person does on the page.
func (e *env) request(query string) got {
	e.t.Helper()
	return e.send("POST", site.PathAuthorize, query, map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": e.url})
}

// code has the owner approve a new request.
func (e *env) code(g site.Grant) string {
	e.t.Helper()
	if got := e.request("vendor=" + vendor); got.status != 200 {
		e.t.Fatal(got)
	}
	pending := e.site.Pending()
	code, err := e.site.Approve(pending[len(pending)-1].ID, g)
	if err != nil {
		e.t.Fatal(err)
	}
	return code
}

// token returns a token for a grant.
func (e *env) token(g site.Grant) string {
	e.t.Helper()
	return e.exchange(e.code(g))
}

func (e *env) exchange(code string) string {
	e.t.Helper()
	got := e.send("POST", site.PathToken, `{"code":"`+code+`"}`, nil)
	var b struct {
		AccessToken string    `json:"access_token"`
		Rest        ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal([]byte(got.body), &b); err != nil || got.status != 200 {
		e.t.Fatal(got.status, got.body, err)
	}
	return b.AccessToken
}

// pay signs a payment of the priced action.
func (e *env) pay(change ...func(*x402.Authorization)) string {
	e.t.Helper()
	key, err := x402.GenerateKey()
	if err != nil {
		e.t.Fatal(err)
	}
	return e.payWith(key, change...)
}

func (e *env) payWith(key x402.Key, change ...func(*x402.Authorization)) string {
	e.t.Helper()
	amount, _ := x402.ParsePrice(priced.Amount)
	to, err1 := x402.ParseAddress(payTo)
	network, _ := x402.NetworkOf(x402.BaseSepolia)
	data, err2 := x402.Authorize(key.Account(), x402.Price{Network: network, Amount: amount, PayTo: to}, 10*time.Minute, e.clock())
	for _, fn := range change {
		fn(&data.Authorization)
	}
	sig, err3 := key.Sign(e.t.Context(), data)
	if err1 != nil || err2 != nil || err3 != nil {
		e.t.Fatal(err1, err2, err3)
	}
	return x402.Header(data, sig)
}
