package aamcanvas

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// Limits of what an agent sends and receives.
const (
	paramsBytes   = 16 << 10 // the card shows all of them
	discoverBytes = 56 << 10
)

// siteAction is the input of every action.
type siteAction struct {
	Refresh bool      `json:"refresh,omitzero"`
	Proof   string    `json:"proof,omitzero"`
	Actions []string  `json:"actions,omitzero"`
	Code    string    `json:"code,omitzero"`
	Action  string    `json:"action,omitzero"`
	Params  ahp.Value `json:"params,omitzero"`
	Payment string    `json:"payment_proof,omitzero"`
	Call    string    `json:"call,omitzero"`
	Limit   int       `json:"limit,omitzero"`
}

var siteActions = map[string]func(*siteCanvas, context.Context, siteAction) (any, error){
	"discover":       (*siteCanvas).actDiscover,
	"authorize_url":  (*siteCanvas).actAuthorizeURL,
	"exchange_token": (*siteCanvas).actExchange,
	"invoke":         (*siteCanvas).actInvoke,
	"result":         (*siteCanvas).actResult,
	"calls":          (*siteCanvas).actCalls,
}

// Invoke runs an action of the session's agent.
func (s *siteCanvas) Invoke(ctx context.Context, action string, raw ahp.Value) (ahp.Value, error) {
	var in siteAction
	if raw != nil {
		if err := ahp.Unmarshal(raw, &in); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "%v", err)
		}
	}
	do := siteActions[action]
	if do == nil {
		return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", action)
	}
	out, err := do(s, ctx, in)
	if err != nil {
		return nil, toCanvas(err)
	}
	return ahp.Marshal(out)
}

// discovered is an action of a site, for agents.
type discovered struct {
	ID          string    `json:"id"`
	Description string    `json:"description,omitzero"`
	Price       string    `json:"price"`
	Schema      ahp.Value `json:"inputSchema"`
	Auth        string    `json:"auth"`
}

// auth is what an action needs: "none", "needed" or "signed_in".
func (s *siteCanvas) auth(m *aam.Manifest, id string) string {
	if !m.NeedsAuth(id) {
		return "none"
	}
	if _, in := s.client.SignedInAt(m, s.at, hostOwner); in {
		return "signed_in"
	}
	return "needed"
}

func (s *siteCanvas) actDiscover(ctx context.Context, in siteAction) (any, error) {
	m, err := s.known(ctx, in.Refresh)
	if err != nil {
		return nil, err
	}
	var actions []discovered
	for _, a := range m.Actions {
		actions = append(actions, discovered{a.ID, ahp.Line(a.Description, 500), a.Pricing.String(), a.InputSchema(), s.auth(m, a.ID)})
	}
	s.mu.Lock()
	warnings := slices.Clone(s.warnings)
	s.mu.Unlock()
	shown := fit(actions, discoverBytes-8<<10)
	type about struct {
		Name   string `json:"name"`
		Domain string `json:"domain"`
		Origin string `json:"origin"`
	}
	s.changed()
	return struct {
		Site     about         `json:"site"`
		Actions  []discovered  `json:"actions"`
		More     bool          `json:"more,omitzero"`
		Proofs   []string      `json:"proofs"`
		Warnings []aam.Warning `json:"warnings"`
	}{about{ahp.Line(m.Site.Name, 80), ahp.Line(m.Site.Domain, 253), s.at.String()}, shown, len(shown) < len(actions), append([]string{}, m.Proofs()...), fit(warnings, 4<<10)}, nil
}

func (s *siteCanvas) actAuthorizeURL(ctx context.Context, in siteAction) (any, error) {
	m, err := s.known(ctx, false)
	if err != nil {
		return nil, err
	}
	link, err := s.client.SignIn(m, in.Proof, in.Actions)
	if err != nil {
		return nil, err
	}
	s.offer(link.URL)
	return struct {
		URL   string `json:"url"`
		Proof string `json:"proof"`
	}{link.URL, link.Proof}, nil
}

// offer shows the person where to sign in.
func (s *siteCanvas) offer(url string) {
	s.mu.Lock()
	s.link = url
	s.mu.Unlock()
	s.changed()
}

func (s *siteCanvas) actExchange(ctx context.Context, in siteAction) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*siteWait)
	defer cancel()
	signed, err := s.exchange(ctx, in.Code)
	if err != nil {
		return nil, err
	}
	out := struct {
		SignedIn bool     `json:"signed_in"`
		Actions  []string `json:"actions,omitzero"`
		Expires  string   `json:"expires,omitzero"`
	}{SignedIn: true, Actions: signed.Actions}
	if !signed.Expires.IsZero() {
		out.Expires = signed.Expires.UTC().Format(time.RFC3339)
	}
	return out, nil
}

// exchange turns a code or a credential into a token that is kept.
func (s *siteCanvas) exchange(ctx context.Context, code string) (aam.SignedIn, error) {
	m, err := s.known(ctx, false)
	if err != nil {
		return aam.SignedIn{}, err
	}
	signed, err := s.client.Exchange(ctx, m, s.at, hostOwner, code)
	if err == nil {
		s.mu.Lock()
		s.link = ""
		s.mu.Unlock()
		s.changed()
	}
	return signed, err
}

func (s *siteCanvas) actInvoke(ctx context.Context, in siteAction) (any, error) {
	m, err := s.known(ctx, false)
	if err != nil {
		return nil, err
	}
	a, err := m.Action(in.Action)
	if err != nil {
		return nil, err
	}
	if in.Params == nil {
		in.Params = ahp.Value("{}")
	}
	if len(in.Params) > paramsBytes {
		return nil, &aam.Error{Code: aam.CodeInputInvalid, Path: "/input/params", Message: "parameters have at most 16 KiB, because the person reads them"}
	}
	if err := a.Check(in.Params); err != nil {
		return nil, err
	}
	c, err := s.begin(m, a, in)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, siteWait)
	defer cancel()
	select {
	case <-c.changed:
	case <-wait.Done():
	}
	s.changed()
	return s.answer(c)
}

// begin starts a call, or asks the person first.
func (s *siteCanvas) begin(m *aam.Manifest, a aam.Action, in siteAction) (*siteCall, error) {
	issuer := s.client.Blocked(m, s.at, hostOwner)
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := s.terms(a, in.Params, issuer)
	if c := s.same(digest, in.Payment); c != nil {
		return c, nil
	}
	c := &siteCall{id: aam.CallID(), action: a.ID, params: in.Params, proof: in.Payment, issuer: issuer, digest: digest, changed: make(chan struct{})}
	if err := s.keep(c); err != nil {
		return nil, err
	}
	if issuer == "" && (s.granted(digest) || slices.Contains(s.saved.Always, a.ID)) {
		s.start(c)
		return c, nil
	}
	if err := s.newAsk(c, "approval", issuer); err != nil {
		delete(s.calls, c.id)
		s.order = s.order[:len(s.order)-1]
		return nil, err
	}
	return c, nil
}

// start sends a call that was approved. The mutex is held.
func (s *siteCanvas) start(c *siteCall) {
	c.running = true
	s.run(func(ctx context.Context) { s.send(ctx, c) })
}

// send sends a call once, and asks for the payment that the site wants.
func (s *siteCanvas) send(ctx context.Context, c *siteCall) {
	m, err := s.known(ctx, false)
	if err != nil {
		s.finish(c, aam.Outcome{}, err)
		return
	}
	if again, err := s.askAgain(m, c); err != nil {
		s.finish(c, aam.Outcome{}, err)
		return
	} else if again {
		s.changed()
		return
	}
	o, err := s.client.Invoke(ctx, m, s.at, s.call(c))
	due, owed := o.Due()
	if err != nil || !owed || c.proof == "" && !*o.Payable {
		s.finish(c, o, err)
		return
	}
	s.mu.Lock()
	c.due = &due
	s.mu.Unlock()
	if s.client.Ledger().Covers(s.at.String(), due.Price.Amount) {
		o, err := s.client.Pay(ctx, m, s.at, s.call(c), due, c.proof, true)
		if !errors.Is(err, aam.ErrBudget) {
			s.finish(c, o, err)
			return
		}
	}
	s.mu.Lock()
	c.running = false
	err = s.newAsk(c, "payment", "")
	s.mu.Unlock()
	if err != nil {
		s.finish(c, aam.Outcome{}, err)
		return
	}
	s.changed()
}

// askAgain asks the person a second time if the site has changed what was approved.
func (s *siteCanvas) askAgain(m *aam.Manifest, c *siteCall) (bool, error) {
	a, err := m.Action(c.action)
	if err != nil {
		return false, err
	}
	digest := s.terms(a, c.params, c.issuer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if digest == c.digest {
		return false, nil
	}
	c.digest, c.running = digest, false
	if err := s.newAsk(c, "approval", c.issuer); err != nil {
		return false, err
	}
	return true, nil
}

func (s *siteCanvas) call(c *siteCall) aam.Call {
	return aam.Call{ID: c.id, Action: c.action, Params: c.params, Person: hostOwner, Reference: c.proof}
}

// pay pays for a call with the person's approval.
func (s *siteCanvas) pay(ctx context.Context, c *siteCall) {
	m, err := s.known(ctx, false)
	if err != nil {
		s.finish(c, aam.Outcome{}, err)
		return
	}
	o, err := s.client.Pay(ctx, m, s.at, s.call(c), *c.due, c.proof, false)
	s.finish(c, o, err)
}

// finish ends a call: its outcome is kept for an hour, logged, and raised for the agent. A
// call that a site has not run keeps its approval for the next try.
func (s *siteCanvas) finish(c *siteCall, o aam.Outcome, err error) {
	o.Call = c.id
	s.mu.Lock()
	c.running, c.ended, c.due = false, s.now(), nil
	row := siteRow{Call: c.id, Time: s.now().UTC().Format(time.RFC3339), Action: c.action, Outcome: o.Kind, Status: o.Status}
	if err != nil {
		c.err = toCanvas(err)
		row.Outcome = c.err.Code
	} else {
		c.outcome = &o
		if o.Paid != nil {
			row.Amount = o.Paid.Amount + " " + o.Paid.Currency
		}
		if o.Kind == aam.SignIn {
			s.link = o.AuthorizeURL
		}
		s.checkout = o.CheckoutURL
		if o.Kind != aam.Done {
			s.grants[c.digest] = s.now().Add(keepAsk)
		}
	}
	s.saved.Log = append(s.saved.Log, row)
	if n := len(s.saved.Log); n > maxLog {
		s.saved.Log = slices.Clone(s.saved.Log[n-maxLog:])
	}
	s.trimGrants()
	c.wake()
	s.mu.Unlock()
	if err := s.save(); err != nil && s.ctx.Err() == nil && !errors.Is(err, errors.ErrUnsupported) {
		s.hub.logFailure("the log of a site could not be saved", err)
	}
	s.raise(c)
	s.changed()
}

// trimGrants drops approvals that are over. The mutex is held.
func (s *siteCanvas) trimGrants() {
	for d, until := range s.grants {
		if !s.now().Before(until) || len(s.grants) > maxCalls {
			delete(s.grants, d)
		}
	}
}

// result is an event for the agent.
type result struct {
	Type    string    `json:"type"`
	Call    string    `json:"call"`
	Outcome string    `json:"outcome,omitzero"`
	Code    string    `json:"code,omitzero"`
	Message string    `json:"message,omitzero"`
	Rest    ahp.Value `json:",embed"`
}

// raise tells the agent how a call has ended.
func (s *siteCanvas) raise(c *siteCall) {
	var event ahp.Value
	s.mu.Lock()
	if c.err != nil {
		e := result{Type: "aam.result", Call: c.id, Outcome: "failed", Code: c.err.Code, Message: c.err.Message}
		if c.err.Code == aam.CodeDeclined {
			e.Type, e.Outcome = "aam.declined", ""
		}
		event = ahp.MustMarshal(e)
	} else {
		event = ahp.MustMarshal(struct {
			Type string `json:"type"`
			aam.Outcome
		}{"aam.result", *c.outcome})
	}
	s.mu.Unlock()
	_ = s.h.Raise(event) // the canvas was closed meanwhile
}

// answer is what the agent learns about a call now.
func (s *siteCanvas) answer(c *siteCall) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.err != nil:
		return nil, c.err
	case c.outcome != nil:
		return *c.outcome, nil
	}
	o := aam.Outcome{Kind: aam.Pending, Call: c.id, WaitsFor: "site",
		Message: "Call wait_for_canvas_events: aam.result brings the result. Do not repeat the call."}
	if c.ask != nil {
		o.WaitsFor = c.ask.kind
	}
	return o, nil
}

func (s *siteCanvas) actResult(_ context.Context, in siteAction) (any, error) {
	s.mu.Lock()
	c := s.calls[in.Call]
	s.mu.Unlock()
	if c == nil {
		return nil, &aam.Error{Code: aam.CodeInputInvalid, Path: "/input/call", Message: "there is no such call; results are kept for an hour"}
	}
	return s.answer(c)
}

func (s *siteCanvas) actCalls(_ context.Context, in siteAction) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Limit < 1 || in.Limit > maxLog {
		in.Limit = maxLog
	}
	rows := slices.Clone(s.saved.Log)
	slices.Reverse(rows)
	return fit(rows[:min(len(rows), in.Limit)], discoverBytes), nil
}
