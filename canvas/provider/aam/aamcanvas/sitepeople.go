package aamcanvas

import (
	"context"
	"errors"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// fromSite is a message of the page.
type fromSite struct {
	AAM      string    `json:"aam"`
	Ref      ahp.Value `json:"ref,omitzero"`
	Ask      string    `json:"ask,omitzero"`
	Digest   string    `json:"digest,omitzero"`
	Decision string    `json:"decision,omitzero"`
	Always   bool      `json:"always,omitzero"`
	Reason   string    `json:"reason,omitzero"`
	Call     string    `json:"call,omitzero"`
	Day      string    `json:"day,omitzero"`
	Sealed   *Sealed   `json:"sealed,omitzero"`
	PIN      ahp.Value `json:"pin,omitzero"`
	Code     ahp.Value `json:"code,omitzero"`
	Rest     ahp.Value `json:",embed"`
}

// The decisions of a person.
const (
	approved = "approved"
	declined = "declined"
)

var sitePeople = map[string]func(*siteCanvas, canvas.View, fromSite) error{
	"decide": (*siteCanvas).decide,
	"budget": (*siteCanvas).budget,
	"forget": (*siteCanvas).forget,
	"ask":    (*siteCanvas).always,
	"read":   (*siteCanvas).read,
	"signin": (*siteCanvas).signIn,
}

// message handles a message of the page. It does not wait for the site: a code is exchanged
// by a goroutine, which answers.
func (s *siteCanvas) message(_ context.Context, from canvas.View, payload ahp.Value) {
	var m fromSite
	if ahp.Unmarshal(payload, &m) != nil {
		return
	}
	do := sitePeople[m.AAM]
	switch {
	case m.AAM == "hello":
		s.sendState(from)
		s.sendKey(from)
		return
	case m.AAM != "code" && do == nil:
		return
	}
	err := error(canvas.ErrNotAPerson)
	switch {
	case !from.Person():
	case m.PIN != nil || m.Code != nil:
		err = canvas.Errorf(CodeNotSealed, "a secret came in the clear, where other programs can read it; if it was your PIN, set another one: ahp-canvas aam pin")
	case m.AAM == "code":
		secret, bad := s.keys.open(from, m.Sealed, "code")
		s.sendKey(from)
		if err = bad; err == nil {
			s.run(func(ctx context.Context) { s.reply(from, m.Ref, s.code(ctx, string(secret))) })
			return
		}
	default:
		err = do(s, from, m)
		if m.Sealed != nil {
			s.sendKey(from)
		}
	}
	s.reply(from, m.Ref, err)
	s.changed()
}

// reply answers a View.
func (s *siteCanvas) reply(to canvas.View, ref ahp.Value, err error) {
	out := answer{AAM: "done", Ref: ref}
	if err != nil {
		e := toCanvas(err)
		out = answer{AAM: "refused", Ref: ref, Code: e.Code, Message: e.Message}
	}
	_ = s.h.PostTo(s.h.Context(), to, ahp.MustMarshal(out)) // the View has left
}

// code exchanges a code that the person has entered.
func (s *siteCanvas) code(ctx context.Context, code string) error {
	if _, err := s.exchange(ctx, code); err != nil {
		return err
	}
	_ = s.h.Raise(ahp.MustMarshal(struct {
		Type string `json:"type"`
		Site string `json:"site"`
	}{"aam.signed_in", s.at.String()})) // the canvas was closed meanwhile
	return nil
}

// confirm opens a sealed PIN and checks it.
func (s *siteCanvas) confirm(from canvas.View, box *Sealed, about ...string) error {
	if s.hub.pin == nil {
		return errNoPIN
	}
	if !s.hub.pin.Set() {
		return s.hub.pin.Check("") // says how to set one
	}
	secret, err := s.keys.open(from, box, about...)
	if err != nil {
		return err
	}
	return s.hub.pin.Check(string(secret))
}

// decide does what the person has decided about a question. The PIN is sealed together with
// the question, what it shows and the decision, so it approves nothing else.
func (s *siteCanvas) decide(from canvas.View, m fromSite) error {
	if m.Decision != approved && m.Decision != declined {
		return canvas.Errorf(canvas.CodeInputInvalid, "decision %q is neither approved nor declined", m.Decision)
	}
	if a, ok := s.look(m.Ask); ok && a.digest == m.Digest && m.Decision == approved && a.needsPIN() {
		if err := s.confirm(from, m.Sealed, "decide", m.Ask, m.Digest, m.Decision); err != nil {
			return err
		}
	}
	c, a, err := s.take(m.Ask, m.Digest)
	if err != nil {
		return err
	}
	if m.Decision == declined {
		message := "the person declined; nothing was sent"
		if a.kind == "payment" {
			message = "the person declined the payment; nothing was signed"
		}
		if reason := ahp.Line(m.Reason, 300); reason != "" {
			message += ": " + reason
		}
		s.finish(c, aam.Outcome{}, &aam.Error{Code: aam.CodeDeclined, Message: message})
		return nil
	}
	return s.proceed(c, a, m.Always)
}

// proceed starts what was approved.
func (s *siteCanvas) proceed(c *siteCall, a *ask, always bool) error {
	if a.issuer != "" {
		s.mu.Lock()
		manifest := s.manifest
		s.mu.Unlock()
		if err := s.client.Allow(manifest, s.at, hostOwner); err != nil {
			s.finish(c, aam.Outcome{}, err)
			return err
		}
	}
	s.mu.Lock()
	c.running = true
	keep := always && a.kind == "approval" && !slices.Contains(s.saved.Always, c.action)
	if keep {
		s.saved.Always = append(s.saved.Always, c.action)
	}
	s.mu.Unlock()
	if a.kind == "payment" {
		s.run(func(ctx context.Context) { s.pay(ctx, c) })
	} else {
		s.run(func(ctx context.Context) { s.send(ctx, c) })
	}
	if keep {
		return s.saveIf()
	}
	return nil
}

// saveIf is save, where the provider's side can keep something.
func (s *siteCanvas) saveIf() error {
	if err := s.save(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// budget sets what the site may be paid without a question, or removes it.
func (s *siteCanvas) budget(from canvas.View, m fromSite) error {
	ledger := s.client.Ledger()
	if m.Call == "" && m.Day == "" {
		return ledger.SetBudget(s.at.String(), aam.Budget{})
	}
	call, err := x402.ParsePrice(m.Call)
	if err != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "the most for a call: %v", err)
	}
	day, err := x402.ParsePrice(m.Day)
	if err != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "the most for a day: %v", err)
	}
	if err := s.confirm(from, m.Sealed, "budget", m.Call, m.Day); err != nil {
		return err
	}
	return ledger.SetBudget(s.at.String(), aam.Budget{Call: call, Day: day})
}

// forget drops the sign-in, and the approvals that would use it.
func (s *siteCanvas) forget(canvas.View, fromSite) error {
	s.mu.Lock()
	m := s.manifest
	clear(s.grants)
	s.mu.Unlock()
	if m == nil {
		return canvas.Errorf(aam.CodeSiteUnavailable, "the site has not been read since the host started")
	}
	return s.client.Forget(m, s.at, hostOwner)
}

// always withdraws all standing approvals: each call is asked for again.
func (s *siteCanvas) always(canvas.View, fromSite) error {
	s.mu.Lock()
	s.saved.Always = nil
	s.mu.Unlock()
	return s.saveIf()
}

// read records that the person has seen the payments whose outcome is not known.
func (s *siteCanvas) read(canvas.View, fromSite) error {
	return s.client.Ledger().MarkRead(s.at.String())
}

// signIn shows the person where to sign in, without an agent.
func (s *siteCanvas) signIn(canvas.View, fromSite) error {
	s.mu.Lock()
	m := s.manifest
	s.mu.Unlock()
	if m == nil {
		return canvas.Errorf(aam.CodeSiteUnavailable, "the site has not been read since the host started")
	}
	link, err := s.client.SignIn(m, "", nil)
	if err != nil {
		return err
	}
	s.offer(link.URL)
	return nil
}

// sendKey gives a View the key for its next secret.
func (s *siteCanvas) sendKey(to canvas.View) {
	if !to.Person() {
		return
	}
	key, err := s.keys.fresh(to)
	if err != nil {
		return // the page says that it has no key
	}
	_ = s.h.PostTo(s.h.Context(), to, ahp.MustMarshal(key)) // the View has left
}
