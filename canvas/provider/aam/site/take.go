package site

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// caller is who makes a call, after its credential was checked.
type caller struct {
	user   string // "" for a public action
	vendor string
	scopes []string
	grant  Grant
	hash   string // of the token; "" for AAM ID and public calls
	person string // key of an AAM ID person's count; "" otherwise
}

// anonymous reports whether nothing is counted for the caller.
func (c caller) anonymous() bool { return c.hash == "" && c.person == "" }

// left returns an error if a caller has no call left today. The count can change until
// take takes one. mu is held.
func (s *Site) left(c caller, now time.Time) *Refusal {
	u, r := s.useOf(c)
	if r != nil || c.anonymous() {
		return r
	}
	if u.on(dayOf(now)) < c.grant.PerDay {
		return nil
	}
	r = refuse(http.StatusTooManyRequests, CodeLimit, "%d calls a day are allowed, and they are used up", c.grant.PerDay)
	r.RetryAfter = now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
	return r
}

// maxPeople bounds the AAM ID persons that are counted in a day.
const maxPeople = 10_000

// useOf returns a caller's count. mu is held.
func (s *Site) useOf(c caller) (*use, *Refusal) {
	switch {
	case c.hash != "":
		if t := s.tokens[c.hash]; t != nil {
			return &t.Use, nil
		}
		return nil, unauthorized("the token was revoked")
	case c.person != "":
		if s.people[c.person] == nil {
			if len(s.people) >= maxPeople {
				return nil, refuse(http.StatusServiceUnavailable, CodeBusy, "too many people use the site today")
			}
			s.people[c.person] = &use{}
		}
		return s.people[c.person], nil
	}
	return nil, nil
}

// take takes a call's count and payment in one step, and returns when both are on disk:
// only then can the action run. Of two parallel calls one gets the last count, and a
// payment is taken once.
func (s *Site) take(c caller, p *Payment, kept *Kept, row Row) *Refusal {
	now := s.now()
	s.mu.Lock()
	s.purge(now)
	if r := s.left(c, now); r != nil {
		s.mu.Unlock()
		return r
	}
	changes := []Change{rowChange(row)}
	if p != nil {
		key := "nonce/" + hashOf(p.Key)
		if _, used := s.nonces[key]; used {
			s.mu.Unlock()
			return refuse(http.StatusPaymentRequired, wordUsed, "this payment was used already")
		}
		s.nonces[key] = p.Until
		changes = append(changes, Change{key, ahp.MustMarshal(p.Until)})
	}
	if kept != nil {
		s.kept[kept.ID] = kept
		changes = append(changes, kept.change())
	}
	if u, _ := s.useOf(c); u != nil {
		*u = use{dayOf(now), u.on(dayOf(now)) + 1}
		changes = append(changes, s.useChange(c))
	}
	b := s.journal.add(changes...)
	s.mu.Unlock()
	if err := s.journal.commit(b); err != nil {
		return s.storeFailed(err) // the count and the payment stay taken: better too few than too many
	}
	return nil
}

// untake returns a count that was taken by a call that did not run. Its payment stays
// taken: it could have been collected.
func (s *Site) untake(c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	today := dayOf(s.now())
	if u, r := s.useOf(c); r == nil && u != nil && u.on(today) > 0 {
		u.N--
		s.journal.add(s.useChange(c))
	}
}

// useChange is the record with a caller's count. mu is held.
func (s *Site) useChange(c caller) Change {
	if c.hash != "" {
		return s.tokens[c.hash].change()
	}
	return Change{c.person, ahp.MustMarshal(s.people[c.person])}
}

// purge forgets payments that ended a day ago and counts of earlier days, once an hour. mu
// is held.
func (s *Site) purge(now time.Time) {
	if now.Sub(s.purged) < time.Hour {
		return
	}
	s.purged = now
	for key, until := range s.nonces {
		if now.Sub(until) > 24*time.Hour {
			delete(s.nonces, key)
			s.journal.add(Change{key, nil})
		}
	}
	for key, u := range s.people {
		if u.Day != dayOf(now) {
			delete(s.people, key)
			s.journal.add(Change{key, nil})
		}
	}
	for id, k := range s.kept {
		if k.State != StateSigned && now.Sub(k.Time) > auditAge {
			delete(s.kept, id)
			s.journal.add(Change{"payment/" + id, nil})
		}
	}
}

// load reads the store.
func (s *Site) load() error {
	err := s.journal.store.Load(context.Background(), func(key string, value []byte) error {
		kind, id, _ := strings.Cut(key, "/")
		switch kind {
		case "token":
			return decodeInto(s.tokens, id, value, func(t *token) { t.hash = id })
		case "code":
			return decodeInto(s.codes, id, value, nil)
		case "person":
			return decodeInto(s.people, key, value, nil)
		case "payment":
			return decodeInto(s.kept, id, value, nil)
		case "nonce":
			var until time.Time
			err := ahp.Unmarshal(value, &until)
			s.nonces[key] = until
			return err
		case "row":
			s.audit.load(id, value)
			return nil
		}
		return errors.New("a record of an unknown kind")
	})
	s.audit.loaded(s.now(), s.limits.Rows, &s.journal)
	return err
}

// decodeInto adds a record to a map.
func decodeInto[T any](m map[string]*T, key string, value []byte, fn func(*T)) error {
	v := new(T)
	if err := ahp.Unmarshal(value, v); err != nil {
		return err
	}
	if fn != nil {
		fn(v)
	}
	m[key] = v
	return nil
}
