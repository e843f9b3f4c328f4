package aamcanvas

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

const (
	testKey   = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" // a public key of test networks
	testToken = "agt_2354dd550089d210bd2b2354dd550089d210bd2b2354dd550089d210bd2b0000"
	payTo     = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
)

// cafe is a foreign site on a real socket.
type cafe struct {
	*httptest.Server
	price    atomic.Pointer[string] // in the manifest
	asks     atomic.Pointer[string] // in the challenge, base units
	hold     chan struct{}          // if not nil, an answer waits for it
	auth     bool
	mu       sync.Mutex
	requests []http.Header
}

func newCafe(t testing.TB) *cafe {
	c := &cafe{auth: true}
	c.set("0.05", "50000")
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cafe) set(price, asks string) { c.price.Store(&price); c.asks.Store(&asks) }

func (c *cafe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case aam.WellKnown:
		fmt.Fprintf(w, `{"aam_version":"0.1","site":{"name":"Cafe <b>Rosso","domain":"127.0.0.1"},"auth":{"type":"delegated_oauth","authorize_url":"/agent/authorize","required":true,
			"accepted_identity_proofs":[{"type":"per_site_consent","authorize_url":"/agent/authorize"},{"type":"aam_id","issuer":"https://id.example","connect_url_pattern":"https://id.example/c?agent={agent}"}]},
			"actions":[{"id":"check","pricing":"free","params":{"date":{"type":"string"}}},
			{"id":"reserve","pricing":{"type":"x402","amount":%q,"currency":"USDC","network":"base-sepolia"},"params":{"name":{"type":"string"}}}]}`, *c.price.Load())
	case "/api/aam/token":
		fmt.Fprintf(w, `{"access_token":%q}`, testToken)
	default:
		c.mu.Lock()
		c.requests = append(c.requests, r.Header.Clone())
		c.mu.Unlock()
		c.act(w, r)
	}
}

func (c *cafe) act(w http.ResponseWriter, r *http.Request) {
	switch {
	case c.auth && !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasSuffix(r.URL.Path, "reserve") && r.Header.Get("X-Payment") == "":
		w.WriteHeader(http.StatusPaymentRequired)
		_, _ = w.Write(x402.Body("pay", x402.Requirement{Scheme: "exact", Network: "base-sepolia", MaxAmount: *c.asks.Load(), MaxTimeout: 60,
			Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", PayTo: payTo}))
	default:
		if c.hold != nil {
			<-c.hold
		}
		fmt.Fprint(w, `{"ok":true,"data":{"confirmation":"RES-AB12X9"}}`)
	}
}

// calls counts the requests of actions, and payments those that pay.
func (c *cafe) calls() (calls, payments int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.requests {
		if h.Get("X-Payment") != "" {
			payments++
		}
	}
	return len(c.requests), payments
}

// siteEnv is an open aam-site.
type siteEnv struct {
	t      *testing.T
	cafe   *cafe
	dir    string
	client *aam.Client
	p      *Provider
	b      *backend
	s      *siteCanvas
	now    atomic.Int64 // what is added to the clock
}

func startSite(t *testing.T, change ...func(*SiteOptions)) *siteEnv {
	t.Helper()
	e := &siteEnv{t: t, cafe: newCafe(t), dir: t.TempDir()}
	key, err := x402.ParseKey(testKey)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := aam.LoadKey(filepath.Join(e.dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	vault, err := aam.OpenVault(filepath.Join(e.dir, "secrets.json"), secret)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := aam.OpenLedger(filepath.Join(e.dir, "payments.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	web := outbound.New(outbound.Options{Loopback: true})
	e.client = aam.New(aam.Options{HTTP: web, Vendor: "anthropic.com", Vault: vault, Ledger: ledger, Signer: key})
	o := SiteOptions{Client: e.client, Loopback: true, Now: func() time.Time { return time.Now().Add(time.Duration(e.now.Load())) }}
	for _, fn := range change {
		fn(&o)
	}
	e.p = New(Options{Sites: &o, PIN: testPIN(t)})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); _ = e.p.Close(); _ = web.Close() })
	e.b = &backend{ctx: ctx, toOne: map[canvas.View][]string{}}
	e.s = e.open("a")
	return e
}

func (e *siteEnv) open(id string) *siteCanvas {
	e.t.Helper()
	h := canvas.MakeHandle(e.b, "s", id)
	opened, err := e.p.Open(e.t.Context(), canvas.OpenRequest{CanvasID: SiteID, InstanceID: id, Input: ahp.MustMarshal(siteInput{e.cafe.URL})}, &h)
	if err != nil {
		e.t.Fatal(err)
	}
	return opened.Instance.(*siteCanvas)
}

// invoke calls an action of the canvas, and returns its outcome.
func (e *siteEnv) invoke(action, input string) aam.Outcome {
	e.t.Helper()
	raw, err := e.s.Invoke(e.t.Context(), action, ahp.Value(input))
	if err != nil {
		return aam.Outcome{Kind: toCanvas(err).Code, Message: err.Error()}
	}
	var o struct {
		Kind         string    `json:"outcome"`
		Call         string    `json:"call,omitzero"`
		WaitsFor     string    `json:"waits_for,omitzero"`
		Message      string    `json:"message,omitzero"`
		AuthorizeURL string    `json:"authorize_url,omitzero"`
		Data         ahp.Value `json:"data,omitzero"`
		Rest         ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal(raw, &o); err != nil {
		e.t.Fatal(err)
	}
	return aam.Outcome{Kind: o.Kind, Call: o.Call, WaitsFor: o.WaitsFor, Message: o.Message, AuthorizeURL: o.AuthorizeURL, Data: o.Data}
}

const (
	checkCall   = `{"action":"check","params":{"date":"friday"}}`
	reserveCall = `{"action":"reserve","params":{"name":"Maria"}}`
)

// asked returns the questions that a View sees.
func (e *siteEnv) asked(v canvas.View) []askShown {
	e.t.Helper()
	e.send(v, map[string]any{"aam": "hello"})
	m := last[struct {
		AAM      string    `json:"aam"`
		Revision int64     `json:"revision"`
		State    siteState `json:"state"`
	}](e.t, e.b, v, "state")
	return m.State.Asks
}

func (e *siteEnv) send(from canvas.View, m map[string]any) {
	e.s.Message(e.t.Context(), from, ahp.MustMarshal(m))
}

// key makes a View say hello, and returns the key that it gets.
func (e *siteEnv) key(from canvas.View) keyMessage {
	e.t.Helper()
	e.send(from, map[string]any{"aam": "hello"})
	return last[keyMessage](e.t, e.b, from, "key")
}

// decision is a View's decision about a question, with a PIN if the question needs one.
func (e *siteEnv) decision(from canvas.View, a askShown, decision, pin string) map[string]any {
	e.t.Helper()
	m := map[string]any{"aam": "decide", "ref": "d", "ask": a.ID, "digest": a.Digest, "decision": decision}
	if pin != "" {
		m["sealed"] = sealFor(e.t, e.key(from), pin, "decide", a.ID, a.Digest, decision)
	}
	return m
}

// outcome waits until a call has ended.
func (e *siteEnv) outcome(call string) aam.Outcome {
	e.t.Helper()
	var o aam.Outcome
	e.until("end of the call", func() bool {
		o = e.invoke("result", `{"call":"`+call+`"}`)
		return o.Kind != aam.Pending || o.WaitsFor != "site"
	})
	return o
}

func (e *siteEnv) until(what string, ok func() bool) {
	e.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			e.t.Fatal("no " + what)
		}
	}
}

// approve approves the one question.
func (e *siteEnv) approve(pin string) {
	e.t.Helper()
	asks := e.asked(owner)
	if len(asks) != 1 {
		e.t.Fatalf("questions: %+v", asks)
	}
	e.send(owner, e.decision(owner, asks[0], approved, pin))
	last[answer](e.t, e.b, owner, "done")
}

func (e *siteEnv) signIn() {
	e.t.Helper()
	e.send(owner, map[string]any{"aam": "code", "ref": "c", "sealed": sealFor(e.t, e.key(owner), "KQ7F-M2XW", "code")})
	e.until("sign-in", func() bool { return len(e.answers("done")) > 0 })
	last[answer](e.t, e.b, owner, "done")
}

func (e *siteEnv) answers(kind string) (list []string) {
	e.b.mu.Lock()
	defer e.b.mu.Unlock()
	for _, text := range e.b.toOne[owner] {
		if strings.Contains(text, `{"aam":"`+kind+`"`) {
			list = append(list, text)
		}
	}
	return list
}

// TestSiteStory: question, 401, code, 402, PIN, payment, result; and no secret in a state,
// an event, an answer, saved data or a file.
func TestSiteStory(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	first := e.invoke("invoke", reserveCall)
	if first.Kind != aam.Pending || first.WaitsFor != "approval" {
		t.Fatalf("first: %+v", first)
	}
	if again := e.invoke("invoke", reserveCall); again.Call != first.Call || len(e.asked(owner)) != 1 {
		t.Errorf("an agent that presses gets a second question: %+v", again)
	}
	if n, _ := e.cafe.calls(); n != 0 {
		t.Fatal("sent before the approval")
	}
	e.approve("")
	if o := e.outcome(first.Call); o.Kind != aam.SignIn || o.AuthorizeURL != e.cafe.URL+"/agent/authorize?vendor=anthropic.com" {
		t.Fatalf("sign-in: %+v", o)
	}
	e.signIn()
	second := e.invoke("invoke", reserveCall) // the approval is still good
	second = e.outcome(second.Call)
	if second.WaitsFor != "payment" {
		t.Fatalf("second: %+v", second)
	}
	ask := e.asked(owner)[0]
	if ask.Price != "0.05 USDC" || ask.To != payTo || !ask.Test || !ask.PIN {
		t.Errorf("the question: %+v", ask)
	}
	e.approve("geheim")
	if o := e.outcome(second.Call); o.Kind != aam.Done || string(o.Data) != `{"confirmation":"RES-AB12X9"}` {
		t.Fatalf("paid: %+v", o)
	}
	if calls, payments := e.cafe.calls(); calls != 3 || payments != 1 {
		t.Errorf("%d calls, %d payments", calls, payments)
	}
	e.noSecrets(testToken, "KQ7F-M2XW", "geheim", testKey, e.cafe.requests[2].Get("X-Payment"))
	third := e.invoke("invoke", reserveCall) // the approval is used up
	if third.WaitsFor != "approval" {
		t.Errorf("third: %+v", third)
	}
	e.send(owner, map[string]any{"aam": "forget", "ref": "f"})
	last[answer](t, e.b, owner, "done")
	e.approve("")
	if o := e.outcome(third.Call); o.Kind != aam.SignIn {
		t.Errorf("forgotten: %+v", o)
	}
}

// noSecrets searches everything that left the provider for secrets.
func (e *siteEnv) noSecrets(secrets ...string) {
	e.t.Helper()
	e.b.mu.Lock()
	var everything strings.Builder
	everything.WriteString(strings.Join(e.b.toAll, "") + strings.Join(e.b.others, "") + fmt.Sprint(e.b.toOne))
	e.b.mu.Unlock()
	calls, err := e.s.Invoke(e.t.Context(), "calls", nil)
	if err != nil {
		e.t.Error(err)
	}
	everything.WriteString(string(calls))
	files, err := filepath.Glob(filepath.Join(e.dir, "*"))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			e.t.Fatal(err)
		}
		everything.WriteString(string(raw))
	}
	for n, s := range secrets {
		if s == "" || strings.Contains(everything.String(), s) {
			e.t.Errorf("secret %d is in a state, an event, an answer or a file", n)
		}
	}
}

// TestDecisions: what is no approval sends nothing.
func TestDecisions(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.cafe.auth = false
	if o := e.invoke("invoke", checkCall); o.WaitsFor != "approval" {
		t.Fatal(o)
	}
	ask := e.asked(owner)[0]
	other2 := e.open("b")
	for name, c := range map[string]struct {
		from canvas.View
		m    map[string]any
		code string
	}{
		"another digest":  {owner, map[string]any{"aam": "decide", "ask": ask.ID, "digest": "0" + ask.Digest[1:] + "x", "decision": approved}, CodeAskChanged},
		"another ask":     {owner, map[string]any{"aam": "decide", "ask": "x", "digest": ask.Digest, "decision": approved}, CodeAskOver},
		"an agent's View": {agentRun, e.decision(owner, ask, approved, ""), "person_required"},
		"one that looks":  {watcher, e.decision(owner, ask, approved, ""), "person_required"},
		"another word":    {owner, e.decision(owner, ask, "yes", ""), canvas.CodeInputInvalid},
		"code in clear":   {owner, map[string]any{"aam": "code", "code": "KQ7F-M2XW"}, CodeNotSealed},
		"PIN in clear":    {owner, map[string]any{"aam": "decide", "ask": ask.ID, "digest": ask.Digest, "decision": approved, "pin": "geheim"}, CodeNotSealed},
	} {
		e.send(c.from, c.m)
		if got := last[answer](t, e.b, c.from, "refused"); got.Code != c.code || c.code == CodeNotSealed && !strings.Contains(got.Message, "in the clear") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	other2.Message(t.Context(), owner, ahp.MustMarshal(e.decision(owner, ask, approved, ""))) // of another instance
	if got := last[answer](t, e.b, owner, "refused"); got.Code != CodeAskOver {
		t.Errorf("another instance: %+v", got)
	}
	if n, _ := e.cafe.calls(); n != 0 {
		t.Fatalf("%d requests without an approval", n)
	}
	for _, v := range []canvas.View{agentRun, watcher} { // who decides nothing has no use for a key
		e.send(v, map[string]any{"aam": "hello"})
		e.b.mu.Lock()
		if strings.Contains(fmt.Sprint(e.b.toOne[v]), `"aam":"key"`) {
			t.Errorf("%s got a key", v.ClientID)
		}
		e.b.mu.Unlock()
	}
	good := e.decision(owner, ask, approved, "")
	e.send(owner, good)
	last[answer](t, e.b, owner, "done")
	e.send(owner, good) // replayed
	if got := last[answer](t, e.b, owner, "refused"); got.Code != CodeAskOver {
		t.Errorf("replayed: %+v", got)
	}
	e.until("request", func() bool { n, _ := e.cafe.calls(); return n == 1 })
	// Declined, with a reason.
	o := e.invoke("invoke", `{"action":"check","params":{"date":"sunday"}}`)
	m := e.decision(owner, e.asked(owner)[0], declined, "")
	m["reason"] = "not on a sunday"
	e.send(owner, m)
	if got := e.outcome(o.Call); got.Kind != aam.CodeDeclined || !strings.Contains(got.Message, "not on a sunday") {
		t.Errorf("declined: %+v", got)
	}
	if n, _ := e.cafe.calls(); n != 1 {
		t.Errorf("%d requests", n)
	}
	e.until("event of the decline and of the result", func() bool {
		e.b.mu.Lock()
		defer e.b.mu.Unlock()
		all := strings.Join(e.b.others, "")
		return strings.Contains(all, `"type":"aam.declined"`) && strings.Contains(all, `"type":"aam.result"`)
	})
}

// TestPaymentPIN: a payment needs the PIN, sealed for this View, question and decision,
// once.
func TestPaymentPIN(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.cafe.auth = false
	o := e.invoke("invoke", reserveCall)
	e.approve("")
	e.until("payment question", func() bool { return e.outcome(o.Call).WaitsFor == "payment" })
	ask := e.asked(owner)[0]
	used := e.decision(owner, ask, approved, "wrong!")
	for name, c := range map[string]struct {
		m    func() map[string]any
		code string
	}{
		"no PIN":    {func() map[string]any { return e.decision(owner, ask, approved, "") }, CodeNotSealed},
		"wrong PIN": {func() map[string]any { return e.decision(owner, ask, approved, "wrong!") }, aam.CodePINWrong},
		"a box again": {func() map[string]any {
			e.send(owner, used)
			last[answer](t, e.b, owner, "refused")
			e.key(owner)
			return used
		}, CodeNotSealed},
		"another's box": {func() map[string]any { return e.decision(other, ask, approved, "geheim") }, CodeNotSealed},
		"sealed for a decline": {func() map[string]any {
			m := e.decision(owner, ask, declined, "geheim")
			m["decision"] = approved
			return m
		}, CodeNotSealed},
	} {
		e.send(owner, c.m())
		if got := last[answer](t, e.b, owner, "refused"); got.Code != c.code {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A budget needs it too.
	e.send(owner, map[string]any{"aam": "budget", "ref": "b", "call": "1", "day": "1"})
	if got := last[answer](t, e.b, owner, "refused"); got.Code != CodeNotSealed {
		t.Errorf("a budget without a PIN: %+v", got)
	}
	e.send(owner, map[string]any{"aam": "budget", "ref": "b", "call": "100", "day": "100", "sealed": sealFor(t, e.key(owner), "geheim", "budget", "1", "1")})
	if got := last[answer](t, e.b, owner, "refused"); got.Code != CodeNotSealed {
		t.Errorf("a larger budget than was sealed: %+v", got)
	}
	if _, payments := e.cafe.calls(); payments != 0 {
		t.Fatalf("%d payments", payments)
	}
	// The amount was never signed, and the question is still there.
	e.approve("geheim")
	if got := e.outcome(o.Call); got.Kind != aam.Done {
		t.Errorf("paid: %+v", got)
	}
	// Without a PIN nothing is paid.
	e.p.sites.pin = aam.OpenPIN(t.TempDir()+"/none", nil)
	o = e.invoke("invoke", reserveCall)
	e.approve("")
	e.until("payment question", func() bool { return e.outcome(o.Call).WaitsFor == "payment" })
	e.send(owner, e.decision(owner, e.asked(owner)[0], approved, "geheim"))
	if got := last[answer](t, e.b, owner, "refused"); got.Code != aam.CodePINUnset || !strings.Contains(got.Message, "ahp-canvas aam pin") {
		t.Errorf("no PIN is set: %+v", got)
	}
}

// TestBudgetPays: within a budget nothing is asked; above it, and after an unknown
// outcome, it is.
func TestBudgetPays(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.cafe.auth = false
	e.send(owner, map[string]any{"aam": "budget", "ref": "b", "call": "0.05", "day": "0.10", "sealed": sealFor(t, e.key(owner), "geheim", "budget", "0.05", "0.10")})
	last[answer](t, e.b, owner, "done")
	o := e.invoke("invoke", reserveCall)
	ask := e.asked(owner)[0]
	m := e.decision(owner, ask, approved, "")
	m["always"] = true
	e.send(owner, m)
	if got := e.outcome(o.Call); got.Kind != aam.Done {
		t.Fatalf("first: %+v", got)
	}
	o = e.invoke("invoke", reserveCall)
	if got := e.outcome(o.Call); got.Kind != aam.Done {
		t.Fatalf("always: %+v", got)
	}
	o = e.invoke("invoke", reserveCall)
	if got := e.outcome(o.Call); got.WaitsFor != "payment" {
		t.Errorf("above the day's: %+v", got)
	}
	if _, payments := e.cafe.calls(); payments != 2 {
		t.Errorf("%d payments", payments)
	}
	e.send(owner, map[string]any{"aam": "ask", "ref": "a"})
	last[answer](t, e.b, owner, "done")
	if o := e.invoke("invoke", checkCall); o.WaitsFor != "approval" {
		t.Errorf("standing approvals were withdrawn: %+v", o)
	}
}

// TestChangedPrice: a price that changes between question and click is asked again.
func TestChangedPrice(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.cafe.auth = false
	o := e.invoke("invoke", reserveCall)
	e.cafe.set("0.50", "500000")
	e.now.Add(int64(6 * time.Minute)) // the manifest is read again
	e.approve("")
	e.until("second question", func() bool { return len(e.asked(owner)) == 1 && e.outcome(o.Call).WaitsFor == "approval" })
	if ask := e.asked(owner)[0]; ask.Price != "0.50 USDC on base-sepolia" {
		t.Errorf("asked again: %+v", ask)
	}
	if n, _ := e.cafe.calls(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestExpiry: an unanswered question ends, and sends nothing.
func TestExpiry(t *testing.T) {
	t.Parallel()
	e := startSite(t, func(o *SiteOptions) { o.KeepAsk = 50 * time.Millisecond })
	o := e.invoke("invoke", checkCall)
	e.until("expiry", func() bool { return e.outcome(o.Call).Kind == aam.CodeDeclined })
	if n, _ := e.cafe.calls(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestSiteAttention: the card waits for the person while a call waits for approval, and shows
// progress while the site works.
func TestSiteAttention(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.b.reasons = make(chan string, 64)
	if o := e.invoke("invoke", checkCall); o.WaitsFor != "approval" {
		t.Fatal(o)
	}
	e.b.waits(t, "The agent asks: check")
	e.send(owner, e.decision(owner, e.asked(owner)[0], declined, ""))
	e.b.waits(t, "")
	e.signIn()
	e.cafe.hold = make(chan struct{})
	if o := e.invoke("invoke", checkCall); o.WaitsFor != "approval" {
		t.Fatal(o)
	}
	e.b.waits(t, "The agent asks: check")
	e.send(owner, e.decision(owner, e.asked(owner)[0], approved, ""))
	e.b.waits(t, "check runs at "+e.s.at.Host())
	close(e.cafe.hold)
	e.b.waits(t, "")
}

// TestManyAsks: an agent cannot bury the person in questions.
func TestManyAsks(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	for n := range maxAsks {
		if o := e.invoke("invoke", fmt.Sprintf(`{"action":"check","params":{"date":"%d"}}`, n)); o.WaitsFor != "approval" {
			t.Fatal(o)
		}
	}
	if o := e.invoke("invoke", checkCall); o.Kind != canvas.CodeLimitExceeded {
		t.Errorf("one more: %+v", o)
	}
	if o := e.invoke("invoke", `{"action":"check","params":{"date":"`+strings.Repeat("x", 20<<10)+`"}}`); o.Kind != aam.CodeInputInvalid {
		t.Errorf("20 KiB: %+v", o)
	}
	for n := 1; n < maxSites; n++ {
		e.open(fmt.Sprint("i", n))
	}
	h := canvas.MakeHandle(e.b, "s", "one more")
	if _, err := e.p.Open(t.Context(), canvas.OpenRequest{CanvasID: SiteID, Input: ahp.MustMarshal(siteInput{e.cafe.URL})}, &h); toCanvas(err).Code != canvas.CodeLimitExceeded {
		t.Errorf("17 sites: %v", err)
	}
}

// TestAnyCredential: a credential for any site goes to one only with the PIN.
func TestAnyCredential(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	b := base64.RawURLEncoding.EncodeToString
	jwt := b([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + b(fmt.Appendf(nil, `{"iss":"https://id.example","sub":"a@b.c","aud":"any","iat":1,"exp":%d,"agent_vendor":"anthropic.com"}`, time.Now().Add(time.Hour).Unix())) + "." + b([]byte("s"))
	if _, err := e.s.Invoke(t.Context(), "exchange_token", ahp.MustMarshal(map[string]string{"code": jwt})); err != nil {
		t.Fatal(err)
	}
	o := e.invoke("invoke", checkCall)
	ask := e.asked(owner)[0]
	if ask.Issuer != "https://id.example" || !ask.PIN {
		t.Fatalf("question: %+v", ask)
	}
	m := e.decision(owner, ask, approved, "")
	m["always"] = true
	e.send(owner, m)
	if got := last[answer](t, e.b, owner, "refused"); got.Code != CodeNotSealed {
		t.Errorf("without a PIN: %+v", got)
	}
	e.approve("geheim")
	if got := e.outcome(o.Call); got.Kind != aam.Done {
		t.Errorf("with it: %+v", got)
	}
	e.noSecrets(jwt)
}

// TestSlowSite: invoke does not wait for a slow site, and the event brings the result.
func TestSlowSite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	e := startSite(t)
	e.cafe.auth = false
	e.cafe.hold = make(chan struct{})
	o := e.invoke("invoke", checkCall)
	m := e.decision(owner, e.asked(owner)[0], approved, "")
	m["always"] = true
	e.send(owner, m)
	slow := e.invoke("invoke", `{"action":"check","params":{"date":"x"}}`)
	if slow.Kind != aam.Pending || slow.WaitsFor != "site" {
		t.Errorf("slow: %+v", slow)
	}
	close(e.cafe.hold)
	for _, call := range []string{o.Call, slow.Call} {
		if got := e.outcome(call); got.Kind != aam.Done {
			t.Errorf("%+v", got)
		}
	}
}

// TestSiteOpens refuses what is no site, and keeps a site open that is away after a
// restart.
func TestSiteOpens(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	open := func(input string, saved []byte) (canvas.Opened, error) {
		h := canvas.MakeHandle(e.b, "s", "x")
		return e.p.Open(t.Context(), canvas.OpenRequest{CanvasID: SiteID, InstanceID: "x", Input: ahp.Value(input), Saved: saved}, &h)
	}
	for input, code := range map[string]string{
		`{"site":"http://caferosso.com"}`:       aam.CodeInputInvalid,
		`{"site":"` + e.cafe.URL + `/nothing"}`: aam.CodeSiteUnavailable,
		`{"site":"http://127.0.0.1:1"}`:         aam.CodeSiteUnavailable,
	} {
		if _, err := open(input, nil); toCanvas(err).Code != code {
			t.Errorf("%s: %v", input, err)
		}
	}
	opened, err := open(`{"site":"http://127.0.0.1:1"}`, []byte(`{"always":["check"]}`))
	if err != nil || opened.Status != "The site cannot be reached" || !opened.Links {
		t.Errorf("after a restart: %+v, %v", opened, err)
	}
	s := opened.Instance.(*siteCanvas)
	if _, err := s.Invoke(t.Context(), "invoke", ahp.Value(checkCall)); toCanvas(err).Code != aam.CodeSiteUnavailable {
		t.Errorf("invoke: %v", err)
	}
	_ = s.Close(t.Context())
}

// TestHostileText: what a site and an agent say is data, and is shown with its control characters.
func TestHostileText(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.invoke("invoke", `{"action":"check","params":{"date":"a\u202eb\u0007<img>"}}`)
	if p := e.asked(owner)[0].Params[0]; p.Value != `a\u202eb\u0007<img>` {
		t.Errorf("shown: %q", p.Value)
	}
	for _, d := range Declarations() {
		if strings.Contains(string(ahp.MustMarshal(d)), "Rosso") {
			t.Error("a site's text is in a declaration")
		}
	}
}

// TestSiteContract: the canvas fulfills the contract of every provider.
func TestSiteContract(t *testing.T) {
	e := startSite(t)
	canvastest.TestProvider(t, canvastest.Config{
		Provider: e.p, Declaration: e.p.Declarations()[0], Input: ahp.MustMarshal(siteInput{e.cafe.URL}),
		Action: "discover", ActionInput: ahp.Value(`{}`), Path: "/site.html",
	})
}

// TestCloseWhilePaying: a canvas that is closed with a payment under way leaves it unknown,
// and nothing keeps running.
func TestCloseWhilePaying(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	e.cafe.auth = false
	e.cafe.hold = make(chan struct{})
	o := e.invoke("invoke", reserveCall)
	e.approve("")
	e.until("payment question", func() bool { return e.outcome(o.Call).WaitsFor == "payment" })
	e.approve("geheim")
	e.until("payment", func() bool { _, payments := e.cafe.calls(); return payments == 1 })
	if err := e.s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := e.p.Close(); err != nil { // waits for the call
		t.Error(err)
	}
	close(e.cafe.hold)
	if u := e.client.Ledger().Unknown(e.s.at.String()); len(u) != 1 || u[0].Call != o.Call {
		t.Errorf("unknown: %+v", u)
	}
	if _, payments := e.cafe.calls(); payments != 1 {
		t.Errorf("%d payments", payments)
	}
}
