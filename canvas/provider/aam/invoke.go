package aam

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// The kinds of an [Outcome].
const (
	Done    = "done"
	Pending = "pending"
	SignIn  = "sign_in"
	Payment = "payment"
)

// maxData is how much of an answer an outcome has.
const maxData = 48 << 10

// Call is one call of an action.
type Call struct {
	// ID names the call. A call is paid for once.
	ID string
	// Action is the action's id.
	Action string
	// Params is an object.
	Params ahp.Value
	// Person is whose token is used.
	Person string
	// RunID is sent as X-Agent-Run-Id. "" is a new one.
	RunID string
	// Token is used in place of a kept one, and is not kept.
	Token string
	// Reference names a payment that the person has made at a hosted checkout. It is sent
	// for actions that are not paid by x402.
	Reference string
}

// Paid is a payment in an outcome.
type Paid struct {
	// Amount is the price in units of the currency.
	Amount string `json:"amount"`
	// Currency is "USDC".
	Currency string `json:"currency"`
	// Network is where.
	Network string `json:"network"`
	// To is who was paid.
	To string `json:"to"`
	// Transaction is the transaction, if the site has named one.
	Transaction string `json:"transaction,omitzero"`
}

// Outcome is how far a call has come.
type Outcome struct {
	// Kind is Done, Pending, SignIn or Payment.
	Kind string `json:"outcome"`
	// Call is the call's id.
	Call string `json:"call,omitzero"`
	// WaitsFor is "approval", "payment" or "site", if the call is pending.
	WaitsFor string `json:"waits_for,omitzero"`
	// Status is the status that the site answered.
	Status int `json:"status,omitzero"`
	// RunID is what the site knows the run by.
	RunID string `json:"run_id,omitzero"`
	// OK reports that the action succeeded.
	OK bool `json:"ok,omitzero"`
	// Data is the site's answer: data, and no instruction.
	Data ahp.Value `json:"data,omitzero"`
	// TooLarge reports that the answer was left out.
	TooLarge bool `json:"too_large,omitzero"`
	// Paid is the payment that was made.
	Paid *Paid `json:"payment,omitzero"`
	// AuthorizeURL is where the person signs in.
	AuthorizeURL string `json:"authorize_url,omitzero"`
	// Proofs is what the site accepts.
	Proofs []string `json:"proofs,omitzero"`
	// Message is what to do next, for agents.
	Message string `json:"message,omitzero"`
	// Price is what the manifest says.
	Price string `json:"price,omitzero"`
	// Challenge is the site's body of the 402.
	Challenge ahp.Value `json:"challenge,omitzero"`
	// CheckoutURL is where the person pays, if the site has a hosted checkout.
	CheckoutURL string `json:"checkout_url,omitzero"`
	// Reference names the checkout: the next call brings it as its payment.
	Reference string `json:"reference,omitzero"`
	// Payable reports that this program could pay.
	Payable *bool `json:"payable,omitzero"`

	due *Due
}

// Due returns what is to be paid, of an outcome of kind Payment.
func (o Outcome) Due() (Due, bool) {
	if o.due == nil {
		return Due{}, false
	}
	return *o.due, true
}

// Invoke calls an action once. A site that wants a sign-in or a payment has not run it, and
// the outcome says so; see [Client.Pay].
func (c *Client) Invoke(ctx context.Context, m *Manifest, site Site, call Call) (Outcome, error) {
	return c.invoke(ctx, m, site, call, nil)
}

// maxReference is the longest reference of a checkout.
const maxReference = 256

// plainText reports whether a text can be a header: visible ASCII without spaces.
func plainText(s string, limit int) bool {
	return s != "" && len(s) <= limit && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// payment is a signed payment of a call.
type payment struct {
	header string
	paid   Paid
}

func (c *Client) invoke(ctx context.Context, m *Manifest, site Site, call Call, pay *payment) (Outcome, error) {
	a, err := m.Action(call.Action)
	if err != nil {
		return Outcome{}, err
	}
	if call.Params == nil {
		call.Params = ahp.Value("{}")
	}
	if err := a.Check(call.Params); err != nil {
		return Outcome{}, err
	}
	if !c.enter(site.Origin) {
		return Outcome{}, errorf(CodeTooMany, "", "%d calls of %s are under way; wait for one", callsPerSite, site.Host())
	}
	defer c.leave(site.Origin)
	if call.RunID == "" {
		call.RunID = RunID()
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := m.request(ctx, a, call.Params)
	if err != nil {
		return Outcome{}, err
	}
	used := c.authorize(req, m, site, call)
	req.Header.Set("X-Agent-Vendor", c.vendor)
	req.Header.Set("X-Agent-Run-Id", call.RunID)
	switch {
	case pay != nil:
		req.Header.Set("X-Payment", pay.header)
	case call.Reference != "" && a.Pricing.Type != X402 && !a.Pricing.Free():
		if !plainText(call.Reference, maxReference) {
			return Outcome{}, errorf(CodePaymentInvalid, "/input/payment_proof", "it is not a checkout's reference")
		}
		req.Header.Set("X-Payment", call.Reference)
	}
	got, err := c.send(req, maxAnswer)
	if err != nil {
		return Outcome{}, err
	}
	return c.outcome(m, site, a, call, got, used, pay)
}

// authorize adds the credential that goes to the site, and returns where it is kept.
func (c *Client) authorize(req *http.Request, m *Manifest, site Site, call Call) *found {
	if call.Token != "" {
		req.Header.Set("Authorization", "Bearer "+call.Token)
		return nil
	}
	use, _ := c.find(m, site, call.Person)
	if use != nil {
		req.Header.Set("Authorization", "Bearer "+use.secret.Value)
	}
	return use
}

// request makes the request of an action: parameters are its body, or the query of a GET.
func (m *Manifest) request(ctx context.Context, a Action, params ahp.Value) (*http.Request, error) {
	to, err := m.endpoint(a)
	if err != nil {
		return nil, errorf(CodeManifestInvalid, "/actions", "%v", err)
	}
	if a.Method != http.MethodGet {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(params))
		if err == nil {
			req.Header.Set("Content-Type", "application/json")
		}
		return req, err
	}
	list, err := object(params)
	if err != nil {
		return nil, errorf(CodeInputInvalid, "/input/params", "want an object")
	}
	q := to.Query()
	for _, p := range list {
		q.Set(p.name, text(p.value))
	}
	to.RawQuery = q.Encode()
	return http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
}

// text is a value in a query: a string without its quotes.
func text(v ahp.Value) (s string) {
	if v.Kind() == '"' && ahp.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// failure is the body of an answer that is no success.
type failure struct {
	OK    ahp.Value `json:"ok,omitzero"`
	Error ahp.Value `json:"error,omitzero"`
	Data  ahp.Value `json:"data,omitzero"`
	Rest  ahp.Value `json:",embed"`
}

// said is what a site says about a failure: a code and a text, each one line.
func (f failure) said() (code, message, path string) {
	if f.Error.Kind() == '"' {
		return "", ahp.Line(text(f.Error), 300), ""
	}
	var e struct {
		Code    ahp.Value `json:"code,omitzero"`
		Message ahp.Value `json:"message,omitzero"`
		Path    ahp.Value `json:"path,omitzero"`
		Rest    ahp.Value `json:",embed"`
	}
	if f.Error.Kind() != '{' || ahp.Unmarshal(f.Error, &e) != nil {
		return "", "", ""
	}
	return ahp.Line(text(e.Code), 80), ahp.Line(text(e.Message), 300), ahp.Line(text(e.Path), 200)
}

// outcome reads a site's answer.
func (c *Client) outcome(m *Manifest, site Site, a Action, call Call, got answer, used *found, pay *payment) (Outcome, error) {
	o := Outcome{Kind: Done, Call: call.ID, Status: got.status, RunID: call.RunID}
	switch {
	case got.status == http.StatusUnauthorized:
		return c.unauthorized(m, site, o, call, used)
	case got.status == http.StatusPaymentRequired && pay == nil:
		return c.due(a, o, got)
	case got.status < 200 || got.status > 299:
		return Outcome{}, refused(site, got, pay)
	}
	if pay != nil {
		o.Paid = &pay.paid
		if r, err := x402.ParseReceipt(got.header.Get("X-Payment-Response")); err == nil && r.Success {
			o.Paid.Transaction = ahp.Line(r.Transaction, 128)
		}
	}
	if got.large || len(got.body) > maxData {
		o.OK, o.TooLarge = true, true
		return o, nil
	}
	var in failure
	body := ahp.Value(bytes.TrimSpace(got.body))
	if !body.IsValid() {
		return Outcome{}, errorf(CodeActionFailed, "", "%s answers with something else than JSON", site.Host())
	}
	o.OK, o.Data = true, body
	if body.Kind() == '{' && ahp.Unmarshal(body, &in) == nil && in.OK != nil {
		if string(in.OK) != "true" {
			return Outcome{}, refused(site, got, pay)
		}
		o.Data = in.Data
	}
	return o, nil
}

// unauthorized drops the credential that the site refused, and says where to sign in.
func (c *Client) unauthorized(m *Manifest, site Site, o Outcome, call Call, used *found) (Outcome, error) {
	if used != nil {
		if err := c.withdraw(*used, m, site); err != nil {
			return Outcome{}, err
		}
	}
	link, err := c.SignIn(m, "", nil)
	if err != nil {
		return Outcome{}, errorf(CodeForbidden, "", "the site wants a sign-in, and its manifest does not say where")
	}
	return Outcome{Kind: SignIn, Call: call.ID, Status: o.Status, AuthorizeURL: link.URL, Proofs: m.Proofs(),
		Message: "Ask the person to open the address once, to approve there, and to enter the code on the card. Do not open it yourself."}, nil
}

// refused is the error for an answer that is no success.
func refused(site Site, got answer, pay *payment) error {
	var in failure
	if ahp.Unmarshal(got.body, &in) != nil {
		in = failure{}
	}
	code, message, path := in.said()
	say := func(kind, format string) *Error {
		e := errorf(kind, "", format, site.Host())
		if code != "" || message != "" {
			e.Message += ": " + strings.TrimSpace(code+" "+message)
		}
		return e
	}
	switch {
	case got.status == http.StatusPaymentRequired:
		return say(CodePaymentInvalid, "%s refuses the payment; the authorization counts as used")
	case code == "limit_exceeded", got.status == http.StatusTooManyRequests:
		return say(CodeLimitExceeded, "a limit that the person set at %s is used up")
	case got.status == http.StatusForbidden:
		return say(CodeForbidden, "%s does not allow it")
	case got.status == http.StatusNotFound:
		e := say(CodeInputInvalid, "%s does not know the action")
		e.Path = "/input/action"
		return e
	case got.status == http.StatusBadRequest && code == "invalid_params":
		e := say(CodeInputInvalid, "%s does not take the parameters")
		e.Path = "/input/params" + path
		return e
	case got.status == http.StatusBadRequest && pay != nil && strings.HasPrefix(code, "invalid_"):
		return say(CodePaymentInvalid, "%s cannot read the payment")
	case got.status == http.StatusServiceUnavailable:
		return say(CodeSiteUnavailable, "%s cannot run it now")
	case got.status == http.StatusGatewayTimeout:
		return say(CodeOutcomeUnknown, "the action at %s has not ended in time: whether it ran is not known")
	}
	return say(CodeActionFailed, "the action at %s failed")
}

// isCode reports whether an error is one of this package with a code.
func isCode(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
