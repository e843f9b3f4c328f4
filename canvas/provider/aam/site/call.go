package site

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// call is one call while it is answered.
type call struct {
	action  Action
	caller  caller
	input   ahp.Value
	row     Row
	begun   time.Time
	payment *Payment
	settled Settlement
	known   bool // the action exists, so the call is a row
}

// answer is what a call that ran returns.
type answer struct {
	OK    bool      `json:"ok"`
	Data  ahp.Value `json:"data"`
	RunID string    `json:"run_id"`
}

// serveCall answers POST /api/aam/actions/{id}.
func (s *Site) serveCall(w http.ResponseWriter, r *http.Request) *Refusal {
	c := &call{begun: s.now()}
	value, bad := s.run(w, r, c)
	if c.known {
		s.finish(c, bad)
	}
	if c.settled.Header != "" {
		w.Header().Set("X-PAYMENT-RESPONSE", c.settled.Header)
	}
	if bad != nil {
		bad.settled = c.settled.Transaction != ""
		return bad
	}
	if value == nil {
		value = ahp.Null
	}
	writeJSON(w, http.StatusOK, answer{true, value, c.row.RunID})
	return nil
}

// run checks a call, takes its count and payment, and runs its action.
func (s *Site) run(w http.ResponseWriter, r *http.Request, c *call) (ahp.Value, *Refusal) {
	var ok bool
	if c.action, ok = s.config.action(r.PathValue("id")); !ok {
		return nil, refuse(http.StatusNotFound, CodeNotFound, "this site has no action %q", ahp.Line(r.PathValue("id"), 64))
	}
	c.known = true
	c.row = s.newRow(r, c)
	if bad := s.admit(w, r, c); bad != nil {
		return nil, bad
	}
	if c.caller.anonymous() { // strangers leave places to those who were let in
		if !enter(s.public) {
			return nil, busy()
		}
		defer func() { <-s.public }()
	}
	if !enter(s.running) {
		return nil, busy()
	}
	defer func() { <-s.running }()
	if bad := s.pay(r, c); bad != nil {
		return nil, bad
	}
	return s.execute(r.Context(), c)
}

// enter takes a place, and reports whether there was one.
func enter(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
		return false
	}
}

func busy() *Refusal {
	r := refuse(http.StatusServiceUnavailable, CodeBusy, "too many calls run at once")
	r.RetryAfter = time.Second
	return r
}

// admit checks everything about a call but its payment.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, c *call) (bad *Refusal) {
	if c.caller, bad = s.authenticate(r, c.action); bad != nil {
		return bad
	}
	if !c.caller.anonymous() && s.opts.Proven != nil && !s.opts.Proven(r) {
		return busy()
	}
	c.row.Vendor, c.row.User, c.row.Scopes = c.caller.vendor, c.caller.hashedUser(), c.caller.scopes
	if c.input, bad = s.readInput(w, r, c.action); bad != nil {
		return bad
	}
	s.mu.Lock()
	bad = s.left(c.caller, s.now())
	s.mu.Unlock()
	if bad != nil {
		return bad
	}
	if c.caller.grant.tooDear(c.action.Pricing) {
		return refuse(http.StatusForbidden, CodeLimit, "the action costs %s %s, above the %s that a call can cost", c.action.Pricing.Amount, c.action.Pricing.Currency, c.caller.grant.PerCall)
	}
	return nil
}

// pay verifies the payment, takes it together with the call's count, and collects it.
func (s *Site) pay(r *http.Request, c *call) *Refusal {
	proof := r.Header.Get("X-Payment")
	if c.action.Pricing.Free() {
		if proof != "" {
			c.row.Payment = &RowPayment{Scheme: "ignored"}
		}
		return s.take(c.caller, nil, nil, c.row)
	}
	rail, o := s.rails[c.action.Pricing.Type], s.offer(c.action)
	if proof == "" {
		ch, err := rail.Challenge(r.Context(), o)
		if err != nil {
			return s.railFailed(err)
		}
		bad := refuse(http.StatusPaymentRequired, CodePayment, "the action costs %s %s", o.Pricing.Amount, o.Pricing.Currency)
		bad.Challenge = &ch
		return bad
	}
	p, err := rail.Verify(r.Context(), o, proof, s.now())
	if err != nil {
		return s.railFailed(err)
	}
	c.payment, c.row.Payment = &p, &RowPayment{p.Scheme, p.Network, p.Amount, p.Payer, ""}
	return s.collectNow(r.Context(), rail, c)
}

// collectNow takes a payment and the call's count, and then collects the payment, or keeps
// it for a batch.
func (s *Site) collectNow(ctx context.Context, rail Rail, c *call) *Refusal {
	var kept *Kept
	x, isX402 := rail.(*x402Rail)
	if isX402 && x.settle.later() {
		kept = &Kept{ID: strings.TrimPrefix(c.row.ID, "evt_"), Time: c.begun, Action: c.action.ID, Vendor: c.caller.vendor, State: StateSigned, Payment: *c.payment}
	}
	if bad := s.take(c.caller, c.payment, kept, c.row); bad != nil {
		if isX402 && bad.Code == wordUsed { // as x402 says what is wrong with a payment
			return x.refuse(x.requirement(s.offer(c.action)), &x402.Reason{Code: bad.Code, Message: bad.Message})
		}
		return bad
	}
	if kept != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Run)
	defer cancel()
	done, err := rail.Settle(ctx, *c.payment)
	if err == nil {
		c.settled, c.row.Payment.Transaction = done, done.Transaction
		return nil
	}
	s.untake(c.caller)
	return s.railFailed(err)
}

// railFailed is the answer to an error of a rail: its refusal, or a word that says that
// nothing was run.
func (s *Site) railFailed(err error) *Refusal {
	if bad, ok := errors.AsType[*Refusal](err); ok {
		return bad
	}
	s.logger.Warn("aam: a payment could not be handled", "err", err)
	return refuse(http.StatusPaymentRequired, wordUnexpected, "the payment cannot be collected now; nothing was run")
}

// wordUnexpected is x402's word for a settlement that failed for no reason of the payer.
const wordUnexpected = "unexpected_settle_error"

func (s *Site) offer(a Action) Offer {
	description, _, _ := s.describe(a)
	return Offer{a.ID, ahp.Line(description, 200), s.config.Origin + "/api/aam/actions/" + a.ID, a.Pricing}
}

// execute runs the action. It continues if the agent leaves: the count is taken.
func (s *Site) execute(ctx context.Context, c *call) (ahp.Value, *Refusal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Run)
	defer cancel()
	value, err := s.executor.Execute(ctx, Call{c.action, c.input, c.caller.user, c.caller.vendor, c.row.RunID})
	if err == nil {
		return value, nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return nil, f.refusal()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, refuse(http.StatusGatewayTimeout, CodeTimeout, "the action took longer than %s", s.limits.Run)
	}
	s.logger.Warn("aam: an action failed", "action", c.action.ID, "err", err)
	return nil, refuse(http.StatusBadGateway, CodeFailed, "the action failed")
}

func (f *Failure) refusal() *Refusal {
	r := refuse(http.StatusBadGateway, CodeFailed, "%s", f.Message)
	switch f.Status {
	case http.StatusServiceUnavailable:
		r.Code = CodeUnavailable
	case http.StatusGatewayTimeout:
		r.Code = CodeTimeout
	case http.StatusBadRequest:
		r.Code = CodeInvalidParams
	}
	if f.Status != 0 {
		r.Status = f.Status
	}
	r.Path, r.rule = f.Path, f.Code
	return r
}

var runID = regexp.MustCompile(`^run_[A-Za-z0-9_-]{1,64}$`)

// newRow is the row of a call that has begun. It says what is known if the host ends now.
func (s *Site) newRow(r *http.Request, c *call) Row {
	row := Row{
		ID: s.audit.newID(c.begun), Time: c.begun.UTC(), Tenant: s.config.Site.Domain, Action: c.action.ID, Kind: "free",
		Scopes: []string{}, Result: resultUnknown, RunID: r.Header.Get("X-Agent-Run-Id"),
	}
	if v := r.Header.Get("X-Agent-Vendor"); vendorID.MatchString(v) {
		row.Vendor = v
	}
	if !c.action.Pricing.Free() {
		row.Kind = "paid"
	}
	if !runID.MatchString(row.RunID) {
		row.RunID = "run_" + strings.ToLower(rand.Text()[:10])
	}
	return row
}

// finish writes the row of a call.
func (s *Site) finish(c *call, bad *Refusal) {
	c.row.Result, c.row.Status = resultOK, http.StatusOK
	if bad != nil {
		c.row.Result, c.row.Status = bad.Code, bad.Status
	}
	c.row.Latency = s.now().Sub(c.begun).Milliseconds()
	s.audit.put(c.row)
}
