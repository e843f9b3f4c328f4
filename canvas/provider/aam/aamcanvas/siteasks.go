package aamcanvas

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// The codes of refused decisions.
const (
	CodeAskOver    = "aam_ask_over"
	CodeAskChanged = "aam_ask_changed"
)

// siteCall is one call of the agent, from its invoke until its result is dropped.
type siteCall struct {
	id     string
	action string
	params ahp.Value
	proof  string // a payment that the agent brought
	issuer string // whose credential for any site would go to this one
	digest string // of what an approval names

	// The site's mutex guards these.
	ask     *ask
	due     *aam.Due
	running bool
	outcome *aam.Outcome // the result, or the step that the agent has to take
	err     *canvas.Error
	ended   time.Time
	changed chan struct{} // closed when the call has ended or waits for the person
}

// ask is a question to the person.
type ask struct {
	id     string
	digest string
	kind   string // "approval" or "payment"
	issuer string // whose credential for any site would go to this one
	until  time.Time
	timer  *time.Timer
}

// needsPIN reports whether the approval costs money, or lets a credential out.
func (a *ask) needsPIN() bool { return a.kind == "payment" || a.issuer != "" }

// terms names what a call does at the price of an action: an approval is good for it alone.
func (s *siteCanvas) terms(a aam.Action, params ahp.Value, issuer string) string {
	return digestOf(s.at.String(), a.ID, string(params), a.Pricing.String(), issuer)
}

// digestOf names what a person approves: the texts are those that the card shows.
func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		_, _ = h.Write(sum[:]) // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newAsk asks the person about a call. The mutex is held.
func (s *siteCanvas) newAsk(c *siteCall, kind, issuer string) error {
	waiting := 0
	for _, other := range s.calls {
		if other.ask != nil {
			waiting++
		}
	}
	if waiting >= maxAsks {
		return canvas.Errorf(canvas.CodeLimitExceeded, "%d calls wait for the person; wait for a decision", maxAsks)
	}
	digest := digestOf(c.digest, kind, issuer)
	if c.due != nil {
		digest = digestOf(c.digest, kind, c.due.Key())
	}
	a := &ask{id: rand.Text(), digest: digest, kind: kind, issuer: issuer, until: s.now().Add(s.hub.opts.KeepAsk)}
	a.timer = time.AfterFunc(s.hub.opts.KeepAsk, func() { s.expire(c, a) })
	c.ask = a
	c.wake()
	return nil
}

// wake lets those continue that wait for the call. The mutex is held.
func (c *siteCall) wake() {
	select {
	case <-c.changed:
	default:
		close(c.changed)
	}
}

// expire ends a question that waited too long.
func (s *siteCanvas) expire(c *siteCall, a *ask) {
	s.mu.Lock()
	over := c.ask != a
	if !over {
		c.ask = nil
	}
	s.mu.Unlock()
	if !over && s.ctx.Err() == nil {
		s.finish(c, aam.Outcome{}, &aam.Error{Code: aam.CodeDeclined, Message: "the person did not decide in time; nothing was sent"})
	}
}

// take ends the question of an id that a person decides about. It is the caller's from
// then on: a second decision finds none.
func (s *siteCanvas) take(id, digest string) (*siteCall, *ask, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.asked(id)
	if c == nil || !s.now().Before(c.ask.until) {
		return nil, nil, canvas.Errorf(CodeAskOver, "this question is over; nothing was sent for it")
	}
	if c.ask.digest != digest {
		return nil, nil, canvas.Errorf(CodeAskChanged, "the question has changed; look at it again")
	}
	a := c.ask
	a.timer.Stop()
	c.ask = nil
	return c, a, nil
}

// look returns a question without ending it.
func (s *siteCanvas) look(id string) (ask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.asked(id); c != nil {
		return *c.ask, true
	}
	return ask{}, false
}

// asked returns the call of a question. The mutex is held.
func (s *siteCanvas) asked(id string) *siteCall {
	for _, c := range s.calls {
		if c.ask != nil && c.ask.id == id {
			return c
		}
	}
	return nil
}

// same returns a call with the same digest that waits or runs: an agent that repeats its
// invoke does not ask the person twice. The mutex is held.
func (s *siteCanvas) same(digest, proof string) *siteCall {
	for _, id := range s.order {
		if c := s.calls[id]; c.digest == digest && c.proof == proof && (c.ask != nil || c.running) {
			return c
		}
	}
	return nil
}

// granted uses up an approval of a digest. The mutex is held.
func (s *siteCanvas) granted(digest string) bool {
	until, ok := s.grants[digest]
	delete(s.grants, digest)
	return ok && s.now().Before(until)
}

// keep remembers a call, and drops the oldest that has ended. The mutex is held.
func (s *siteCanvas) keep(c *siteCall) error {
	now := s.now()
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		old := s.calls[id]
		drop := !old.ended.IsZero() && now.Sub(old.ended) >= keepResult
		if drop {
			delete(s.calls, id)
		}
		return drop
	})
	if len(s.order) >= maxCalls {
		i := slices.IndexFunc(s.order, func(id string) bool { return !s.calls[id].ended.IsZero() })
		if i < 0 {
			return canvas.Errorf(canvas.CodeLimitExceeded, "%d calls are under way", maxCalls)
		}
		delete(s.calls, s.order[i])
		s.order = slices.Delete(s.order, i, i+1)
	}
	s.calls[c.id] = c
	s.order = append(s.order, c.id)
	return nil
}
