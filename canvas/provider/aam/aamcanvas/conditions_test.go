package aamcanvas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// condition is a row of the table of conditions, with the exact answer at each endpoint.
type condition struct {
	name   string
	grant  *site.Grant                     // nil: the agent has no token
	vendor string                          // whom the token is for; "" is the client's vendor
	change func(*site.Config, *conditions) // the site is another
	before func(*conditions)               // something happens before the calls
	action string                          // "" is add_card
	params string                          // "" fits
	proof  string                          // a payment that the agent brings; "sign" is a right one
	pin    string                          // with which the person pays

	http   string // status and code of the site
	client string // of aam.Client: outcome, or code and path
	agent  string // at the host's MCP endpoint, after the person approved
	view   string // what the card shows
}

const never = "-" // the condition does not exist there

var table = []condition{
	{name: "no credential", http: "401 unauthorized", client: "sign_in", agent: "sign_in", view: "link"},
	{name: "revoked credential", grant: &site.Grant{}, before: func(c *conditions) { c.revoke() },
		http: "401 unauthorized", client: "sign_in", agent: "sign_in", view: "link"},
	{name: "expired credential", grant: &site.Grant{Days: 1}, before: func(c *conditions) { c.past.Store(int64(25 * time.Hour)) },
		http: "401 unauthorized", client: "sign_in", agent: "sign_in", view: "link"},
	{name: "wrong vendor", grant: &site.Grant{}, vendor: "other.example",
		http: "403 forbidden", client: "aam_forbidden", agent: "aam_forbidden", view: "aam_forbidden"},
	{name: "action not in scope", grant: &site.Grant{Actions: []string{"buy"}},
		http: "403 forbidden", client: "aam_forbidden", agent: "aam_forbidden", view: "aam_forbidden"},
	{name: "count used up", grant: &site.Grant{PerDay: 1}, before: func(c *conditions) { c.throughHTTP(); c.throughClient() },
		http: "429 limit_exceeded, Retry-After", client: "aam_limit_exceeded", agent: "aam_limit_exceeded", view: "aam_limit_exceeded"},
	{name: "price above the token's limit", grant: &site.Grant{PerCall: "0.01"}, action: "buy",
		http: "403 limit_exceeded", client: "aam_limit_exceeded", agent: "aam_limit_exceeded", view: "aam_limit_exceeded"},
	{name: "unknown action", grant: &site.Grant{}, action: "nothing",
		http: "404 not_found", client: "canvas_input_invalid /input/action [add_card buy]", agent: "canvas_input_invalid /input/action [add_card buy]", view: never},
	{name: "params do not fit", grant: &site.Grant{}, params: `{"title":7}`,
		http: `400 invalid_params "/title" type`, client: "canvas_input_invalid /input/params/title", agent: "canvas_input_invalid /input/params/title", view: never},
	{name: "unknown parameter", grant: &site.Grant{}, params: `{"title":"a","x":1}`,
		http: `400 invalid_params "" additionalProperties`, client: "canvas_input_invalid /input/params/x", agent: "canvas_input_invalid /input/params/x", view: never},
	{name: "payment needed", grant: &site.Grant{PerDay: 100}, action: "buy",
		http: "402 payment_required", client: "payment", agent: "pending payment", view: "asks payment 0.05 USDC"},
	{name: "payment malformed", grant: &site.Grant{PerDay: 100}, action: "buy", proof: "?", pin: "geheim",
		http: "400 invalid_payload", client: "aam_payment_invalid /input/payment_proof: invalid_payload", agent: "aam_payment_invalid /input/payment_proof: invalid_payload", view: "aam_payment_invalid"},
	{name: "payment failed", grant: &site.Grant{PerDay: 100}, action: "buy", proof: "sign", pin: "geheim", change: refusingFacilitator,
		http: "402 insufficient_funds", client: "aam_payment_invalid: insufficient_funds", agent: "aam_payment_invalid: insufficient_funds", view: "aam_payment_invalid"},
	{name: "declined", grant: &site.Grant{}, before: func(c *conditions) { c.decision = declined },
		http: never, client: never, agent: "aam_declined", view: "aam_declined"},
	{name: "payment declined", grant: &site.Grant{PerDay: 100}, action: "buy", pin: declined,
		http: never, client: never, agent: "aam_declined", view: "aam_declined"},
	{name: "PIN wrong", grant: &site.Grant{PerDay: 100}, action: "buy", pin: "falsch",
		http: never, client: never, agent: "pending payment", view: "refused aam_pin_wrong"},
	{name: "PIN locked", grant: &site.Grant{PerDay: 100}, action: "buy", pin: "geheim", before: func(c *conditions) {
		for range 5 {
			_ = c.pin.Check("falsch")
		}
	}, http: never, client: never, agent: "pending payment", view: "refused aam_pin_locked"},
	{name: "PIN unset", grant: &site.Grant{PerDay: 100}, action: "buy", pin: "geheim", before: func(c *conditions) { c.pin = aam.OpenPIN("/nonexistent/pin", nil) },
		http: never, client: never, agent: "pending payment", view: "refused aam_pin_unset"},
	{name: "site away", grant: &site.Grant{}, before: func(c *conditions) { c.onSite = func() { c.srv.Close() } },
		http: never, client: "aam_site_unavailable", agent: "aam_site_unavailable", view: "aam_site_unavailable"},
	{name: "action failed", grant: &site.Grant{PerDay: 9}, before: func(c *conditions) { c.failure = errors.New("secret") },
		http: "502 action_failed", client: "aam_action_failed: action_failed the action failed", agent: "aam_action_failed: action_failed the action failed", view: "aam_action_failed"},
	{name: "provider's own code", grant: &site.Grant{PerDay: 9}, before: func(c *conditions) { c.failure = &site.Failure{Status: 422, Code: "full", Message: "the list is full"} },
		http: "422 action_failed full", client: "aam_action_failed: action_failed the list is full", agent: "aam_action_failed: action_failed the list is full", view: "aam_action_failed"},
	{name: "provider away", grant: &site.Grant{PerDay: 9}, before: func(c *conditions) { c.failure = &site.Failure{Status: 503, Message: "closed"} },
		http: "503 unavailable", client: "aam_site_unavailable", agent: "aam_site_unavailable", view: "aam_site_unavailable"},
	{name: "provider's deadline", grant: &site.Grant{PerDay: 9}, before: func(c *conditions) { c.failure = &site.Failure{Status: 504, Message: "slow"} },
		http: "504 timeout", client: "aam_outcome_unknown", agent: "aam_outcome_unknown", view: "aam_outcome_unknown"},
	{name: "answer lost", grant: &site.Grant{PerDay: 9}, before: func(c *conditions) { c.lose.Store(true) },
		http: never, client: "aam_outcome_unknown", agent: "aam_outcome_unknown", view: "aam_outcome_unknown"},
	{name: "answer to a payment lost", grant: &site.Grant{PerDay: 9}, action: "buy", pin: "geheim", before: func(c *conditions) { c.losePaid.Store(true) },
		http: never, client: never, agent: "aam_outcome_unknown", view: "1 unknown"},
	{name: "too many at once", grant: &site.Grant{PerDay: 9}, before: func(c *conditions) { c.fill() },
		http: "503 busy, Retry-After", client: "canvas_limit_exceeded", agent: "canvas_limit_exceeded", view: "canvas_limit_exceeded"},
}

// refusingFacilitator makes a site collect payments by a facilitator that refuses them.
func refusingFacilitator(config *site.Config, c *conditions) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"isValid":false,"invalidReason":"insufficient_funds"}`)
	}))
	c.t.Cleanup(srv.Close)
	config.Settle = &site.Settle{Facilitator: srv.URL}
}

// conditions is a site of ours and a host whose agent uses it, all on sockets.
type conditions struct {
	t     *testing.T
	row   condition
	srv   *httptest.Server
	site  *site.Site
	token string
	past  atomic.Int64 // how much later it is at the site
	hold  chan struct{}
	ran   chan struct{}

	lose, losePaid atomic.Bool
	failure        error
	onSite         func() // called before each endpoint is used
	decision       string
	pin            *aam.PIN

	h        *host.Host
	client   *aam.Client
	at       aam.Site
	manifest *aam.Manifest
	person   *client.Client
	watch    *client.Watch
	channel  string
	calls    sync.WaitGroup
}

const conditionVendor = "phone.example"

func startConditions(t *testing.T, row condition) *conditions {
	t.Helper()
	c := &conditions{t: t, row: row, decision: approved, pin: testPIN(t), ran: make(chan struct{}, 8)}
	c.srv = httptest.NewServer(http.HandlerFunc(c.serveSite))
	t.Cleanup(c.srv.Close)
	config := site.Config{
		Origin: c.srv.URL, Site: site.Info{Name: "Board", Domain: "127.0.0.1"}, Settle: &site.Settle{Later: site.Duration(5 * time.Minute)},
		Actions: []site.Action{
			{ID: "add_card", Input: ahp.Value(`{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`)},
			{ID: "buy", Pricing: aam.Pricing{Type: aam.X402, Amount: "0.05", Currency: "USDC", Network: x402.BaseSepolia, PayTo: payTo}},
		},
	}
	if row.change != nil {
		row.change(&config, c)
	}
	var err error
	c.site, err = site.New(config, site.Func(c.execute), nil, site.Options{Now: func() time.Time { return time.Now().Add(time.Duration(c.past.Load())) }, Limits: site.Limits{Calls: 4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.site.Close() })
	c.startHost()
	return c
}

// startHost starts a host with the canvas of the site.
func (c *conditions) startHost() {
	t := c.t
	key, err1 := x402.ParseKey(testKey)
	at, err2 := aam.ParseSite(c.srv.URL, true)
	h, err3 := host.New(host.Options{})
	ledger, err4 := aam.OpenLedger(filepath.Join(t.TempDir(), "payments.json"), nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	web := outbound.New(outbound.Options{Loopback: true})
	c.h, c.at = h, at
	c.client = aam.New(aam.Options{HTTP: web, Vendor: conditionVendor, Signer: key, Ledger: ledger})
	p := New(Options{Sites: &SiteOptions{Client: c.client, Loopback: true}, PIN: pinOf{c}})
	t.Cleanup(func() { _ = p.Close(); _ = web.Close() })
	hosttest.Serve(t, h)
	if _, err := h.Add(p); err != nil {
		t.Fatal(err)
	}
	if c.manifest, _, err1 = c.client.Discover(t.Context(), at); err1 != nil {
		t.Fatal(err1)
	}
}

// pinOf is the PIN of a test, which a row can replace.
type pinOf struct{ c *conditions }

func (p pinOf) Check(pin string) error { return p.c.pin.Check(pin) }
func (p pinOf) Set() bool              { return p.c.pin.Set() }

func (c *conditions) serveSite(w http.ResponseWriter, r *http.Request) {
	called := strings.HasPrefix(r.URL.Path, site.PathActions)
	if called && (c.lose.Load() || c.losePaid.Load() && r.Header.Get("X-Payment") != "") {
		_, _ = io.Copy(io.Discard, r.Body) // the request has left
		panic(http.ErrAbortHandler)
	}
	c.site.Handler().ServeHTTP(w, r)
}

func (c *conditions) execute(ctx context.Context, call site.Call) (ahp.Value, error) {
	if c.hold != nil {
		c.ran <- struct{}{}
		select {
		case <-c.hold:
		case <-ctx.Done():
		}
	}
	return call.Input, c.failure
}

// letIn gives the client, and c.token, a token of the row's grant.
func (c *conditions) letIn() {
	if c.row.grant == nil {
		return
	}
	c.t.Helper()
	vendor := c.row.vendor
	if vendor == "" {
		vendor = conditionVendor
	}
	for _, keep := range []bool{true, false} {
		grant := *c.row.grant
		if len(grant.Actions) == 0 {
			grant.Actions = []string{"add_card", "buy"}
		}
		req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.srv.URL+site.PathAuthorize, strings.NewReader("vendor="+vendor))
		if err != nil {
			c.t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {c.srv.URL}}
		c.do(req)
		code, err := c.site.Approve(c.site.Pending()[0].ID, grant)
		if err != nil {
			c.t.Fatal(err)
		}
		if keep {
			if _, err := c.client.Exchange(c.t.Context(), c.manifest, c.at, hostOwner, code); err != nil {
				c.t.Fatal(err)
			}
			continue
		}
		resp, body := c.post("", `{"code":"`+code+`"}`, "")
		if resp != http.StatusOK {
			c.t.Fatal(body)
		}
		_, rest, _ := strings.Cut(body, `"access_token":"`)
		c.token = rest[:68]
	}
}

func (c *conditions) revoke() {
	for _, tok := range c.site.Tokens() {
		if err := c.site.Revoke(tok.ID); err != nil {
			c.t.Fatal(err)
		}
	}
}

// fill has four calls run until the test ends.
func (c *conditions) fill() {
	c.hold = make(chan struct{})
	for range 4 {
		c.calls.Go(func() {
			_, _ = c.client.Invoke(c.t.Context(), c.manifest, c.at, aam.Call{ID: aam.CallID(), Action: "add_card", Person: hostOwner, Params: ahp.Value(`{"title":"a"}`)})
		})
	}
	for range 4 {
		<-c.ran
	}
	c.t.Cleanup(func() { close(c.hold); c.calls.Wait() })
}

func (c *conditions) do(req *http.Request) (int, http.Header, string) {
	c.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// post calls an action with the token, or the address of tokens.
func (c *conditions) post(action, body, proof string) (int, string) {
	status, _, text := c.postAll(action, body, proof)
	return status, text
}

func (c *conditions) postAll(action, body, proof string) (int, http.Header, string) {
	c.t.Helper()
	path := site.PathActions + action
	if action == "" {
		path = site.PathToken
	}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.srv.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "X-Agent-Vendor": {conditionVendor}}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if proof != "" {
		req.Header.Set("X-Payment", proof)
	}
	return c.do(req)
}

// call returns the row's action, parameters and payment.
func (c *conditions) call() (action, params, proof string) {
	action, params, proof = c.row.action, c.row.params, c.row.proof
	if action == "" {
		action = "add_card"
	}
	if params == "" {
		params = map[string]string{"add_card": `{"title":"Milk"}`}[action]
	}
	if params == "" {
		params = "{}"
	}
	if proof == "sign" {
		proof = sign(c.t)
	}
	return action, params, proof
}

// throughHTTP is what the site answers.
func (c *conditions) throughHTTP() string {
	status, header, body := c.postAll(c.call())
	var b struct {
		Error ahp.Value `json:"error,omitzero"`
		Rest  ahp.Value `json:",embed"`
	}
	var e struct {
		Code string    `json:"code,omitzero"`
		Path *string   `json:"path,omitzero"`
		Rule string    `json:"rule,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal([]byte(body), &b); err != nil {
		return body
	}
	if status == http.StatusPaymentRequired { // the body of a 402 is x402's
		_ = ahp.Unmarshal(b.Error, &e.Code)
		if strings.Contains(e.Code, "header is required") {
			e.Code = "payment_required"
		}
	} else if err := ahp.Unmarshal(b.Error, &e); err != nil {
		return body
	}
	got := fmt.Sprint(status, " ", e.Code)
	if e.Path != nil {
		got += fmt.Sprintf(" %q", *e.Path)
	}
	if e.Rule != "" { // of the schema, or the provider's own code
		got += " " + e.Rule
	}
	if header.Get("Retry-After") != "" {
		got += ", Retry-After"
	}
	return got
}

// throughClient is what package aam answers.
func (c *conditions) throughClient() string {
	action, params, proof := c.call()
	call := aam.Call{ID: aam.CallID(), Action: action, Params: ahp.Value(params), Person: hostOwner}
	o, err := c.client.Invoke(c.t.Context(), c.manifest, c.at, call)
	if due, owed := o.Due(); err == nil && owed && proof != "" {
		o, err = c.client.Pay(c.t.Context(), c.manifest, c.at, call, due, proof, false)
	}
	if err != nil {
		return c.said(toCanvas(err))
	}
	return o.Kind
}

// said is an error as the table has it: what the site said is part of some.
func (c *conditions) said(e *canvas.Error) string {
	got := e.Code
	if e.Path != "" {
		got += " " + e.Path
	}
	if len(e.Candidates) > 0 {
		got += fmt.Sprint(" ", e.Candidates)
	}
	for _, word := range []string{"insufficient_funds", "invalid_payload", "action_failed the list is full", "action_failed the action failed"} {
		if strings.Contains(e.Message, word) {
			return got + ": " + word
		}
	}
	return got
}

// throughAgent is what an agent behind MCP learns, and what the card shows then. The person
// decides on a connection of the page's role.
func (c *conditions) throughAgent() (agent, view string) {
	t := c.t
	viewToken, agentToken := c.h.Tokens()
	m, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: c.h.Endpoints().MCP, Token: agentToken})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	opened, err := m.Call(t.Context(), mcp.ToolOpen, ahp.MustMarshal(map[string]any{"canvasId": SiteID, "instanceId": "s", "input": siteInput{c.srv.URL}}))
	var o struct {
		Channel string    `json:"channel"`
		Rest    ahp.Value `json:",embed"`
	}
	if err := errors.Join(err, ahp.Unmarshal(opened, &o)); err != nil {
		t.Fatal(err)
	}
	c.channel = o.Channel
	if c.person, err = client.Dial(t.Context(), c.h.Endpoints().AHP, client.Options{Token: viewToken, Subscriptions: []string{c.channel}}); err != nil {
		t.Fatal(err)
	}
	defer c.person.Close()
	c.watch = c.person.Watch(c.channel)
	defer c.watch.Close()
	if c.onSite != nil {
		c.onSite()
	}
	action, params, proof := c.call()
	input := map[string]any{"action": action, "params": ahp.Value(params)}
	if proof != "" {
		input["payment_proof"] = proof
	}
	first, failed := c.invoke(m, "invoke", input)
	if failed != "" {
		return failed, never
	}
	view = c.decide(first)
	result, failed := c.invoke(m, "result", map[string]any{"call": first.Call})
	switch {
	case failed != "":
		return failed, view
	case result.Kind == aam.Pending:
		return result.Kind + " " + result.WaitsFor, view
	}
	return result.Kind, view
}

type agentOutcome struct {
	Kind     string    `json:"outcome"`
	Call     string    `json:"call,omitzero"`
	WaitsFor string    `json:"waits_for,omitzero"`
	Rest     ahp.Value `json:",embed"`
}

// invoke runs an action of the canvas as the agent.
func (c *conditions) invoke(m *mcp.Client, action string, input any) (o agentOutcome, failed string) {
	c.t.Helper()
	raw, err := m.Call(c.t.Context(), mcp.ToolInvoke, ahp.MustMarshal(map[string]any{"instanceId": "s", "actionName": action, "input": input}))
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return o, c.said(e)
	}
	var v struct {
		Value agentOutcome `json:"value"`
		Rest  ahp.Value    `json:",embed"`
	}
	if err := errors.Join(err, ahp.Unmarshal(raw, &v)); err != nil {
		c.t.Fatal(err)
	}
	return v.Value, ""
}

// decide approves what the card asks until the call has ended, or until the row's PIN is
// refused, and returns what the card shows then.
func (c *conditions) decide(first agentOutcome) (shown string) {
	c.t.Helper()
	decided := map[string]bool{}
	var key keyMessage
	c.tell(map[string]any{"aam": "hello"})
	for {
		var m struct {
			AAM   string    `json:"aam"`
			Code  string    `json:"code,omitzero"`
			To    string    `json:"to,omitzero"`
			Key   string    `json:"key,omitzero"`
			State siteState `json:"state,omitzero"`
			Rest  ahp.Value `json:",embed"`
		}
		c.next(&m)
		switch m.AAM {
		case "key":
			key = keyMessage{m.AAM, m.To, m.Key}
			continue
		case "refused":
			return "refused " + m.Code
		case "state":
		default:
			continue
		}
		st := m.State
		switch n := slices.IndexFunc(st.Log, func(r siteRow) bool { return r.Call == first.Call }); {
		case n >= 0 && st.Link != "":
			return "link"
		case len(st.Unknown) > 0 && n >= 0:
			return fmt.Sprint(len(st.Unknown), " unknown")
		case n >= 0:
			return st.Log[n].Outcome
		}
		for _, a := range st.Asks {
			switch {
			case decided[a.ID]:
			case a.Kind == "payment" && c.row.pin == "":
				return "asks payment " + a.Price
			case a.PIN && c.row.pin != declined:
				if key.Key == "" {
					continue // it follows the state
				}
				c.tell(map[string]any{"aam": "decide", "ref": "p", "ask": a.ID, "digest": a.Digest, "decision": approved, "sealed": sealFor(c.t, key, c.row.pin, "decide", a.ID, a.Digest, approved)})
			case a.PIN:
				c.tell(map[string]any{"aam": "decide", "ref": "p", "ask": a.ID, "digest": a.Digest, "decision": declined})
			default:
				c.tell(map[string]any{"aam": "decide", "ref": "a", "ask": a.ID, "digest": a.Digest, "decision": c.decision})
			}
			decided[a.ID] = true
		}
	}
}

func (c *conditions) tell(message map[string]any) {
	c.t.Helper()
	if err := c.person.Message(c.t.Context(), c.channel, message); err != nil {
		c.t.Fatal(err)
	}
}

// next decodes the provider's next message.
func (c *conditions) next(into any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for {
		event, err := c.watch.Next(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		if m, ok := event.Action.(canvas.Message); ok && event.Origin == nil {
			if err := ahp.Unmarshal(m.Payload, into); err != nil {
				c.t.Fatalf("%s: %v", m.Payload, err)
			}
			return
		}
	}
}

// TestConditions is the table of conditions: each is played at every endpoint, over sockets,
// and has its exact answer there.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := startConditions(t, row)
			c.letIn()
			if row.before != nil {
				row.before(c)
			}
			check := func(where, got, want string) {
				if got != want {
					t.Errorf("%s: %q, want %q", where, got, want)
				}
			}
			if row.http != never {
				check("HTTP", c.throughHTTP(), row.http)
			}
			agent, view := c.throughAgent()
			check("MCP", agent, row.agent)
			check("the card", view, row.view)
			if row.client != never {
				check("Go", c.throughClient(), row.client)
			}
		})
	}
}

// TestSiteConditions are the conditions that only the site's HTTP has.
func TestSiteConditions(t *testing.T) {
	t.Parallel()
	c := startConditions(t, condition{grant: &site.Grant{PerDay: 9}})
	c.letIn()
	for name, row := range map[string]struct {
		body   string
		header [2]string
		host   string
		want   string
	}{
		"no JSON":                 {body: "title=a", want: "400 invalid_params"},
		"too large":               {body: `{"title":"` + strings.Repeat("a", 64<<10) + `"}`, want: "413 too_large"},
		"wrong type of content":   {body: "{}", header: [2]string{"Content-Type", "text/plain"}, want: "415 unsupported_media_type"},
		"wrong Host":              {body: "{}", host: "other.example", want: "421 misdirected_request"},
		"a page elsewhere":        {body: "{}", header: [2]string{"Origin", "https://evil.example"}, want: "403 forbidden"},
		"a script from elsewhere": {body: "{}", header: [2]string{"Sec-Fetch-Site", "cross-site"}, want: "403 forbidden"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.srv.URL+site.PathActions+"add_card", strings.NewReader(row.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "X-Agent-Vendor": {conditionVendor}, "Authorization": {"Bearer " + c.token}}
		if row.header[0] != "" {
			req.Header.Set(row.header[0], row.header[1])
		}
		if row.host != "" {
			req.Host = row.host
		}
		status, _, body := c.do(req)
		_, code, _ := strings.Cut(body, `"code":"`)
		code, _, _ = strings.Cut(code, `"`)
		if got := fmt.Sprint(status, " ", code); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// TestOpenConditions: what keeps a site from being opened, at the agent's endpoint and in Go.
func TestOpenConditions(t *testing.T) {
	t.Parallel()
	answers := map[string]http.HandlerFunc{
		"absent": http.NotFound,
		"HTML": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		},
		"version 2": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"aam_version":"2.0","site":{"name":"a","domain":"127.0.0.1"},"actions":[]}`)
		},
		"foreign token_url": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"aam_version":"0.1","site":{"name":"a","domain":"127.0.0.1"},"auth":{"required":true,"token_url":"https://evil.example/t"},"actions":[]}`)
		},
		"away": nil,
	}
	want := map[string]string{"absent": "aam_no_manifest", "HTML": "aam_no_manifest", "version 2": "aam_manifest_invalid /aam_version",
		"foreign token_url": "aam_manifest_invalid /auth/token_url", "away": "aam_site_unavailable"}
	c := startConditions(t, condition{})
	_, token := c.h.Tokens()
	m, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: c.h.Endpoints().MCP, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for name, answer := range answers {
		srv := httptest.NewServer(answer)
		defer srv.Close()
		if answer == nil {
			srv.Close()
		}
		at, err := aam.ParseSite(srv.URL, true)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Call(t.Context(), mcp.ToolOpen, ahp.MustMarshal(map[string]any{"canvasId": SiteID, "instanceId": "x", "input": siteInput{srv.URL}}))
		if e, ok := errors.AsType[*canvas.Error](err); !ok || c.said(e) != want[name] {
			t.Errorf("%s, MCP: %v", name, err)
		}
		if _, _, err := c.client.Discover(t.Context(), at); err == nil || c.said(toCanvas(err)) != want[name] {
			t.Errorf("%s, Go: %v", name, err)
		}
	}
}
