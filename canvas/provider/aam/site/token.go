package site

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

const (
	codeAlphabet  = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ" // without 0 O 1 I
	codeLetters   = 8
	codeLife      = 10 * time.Minute
	codeTries     = 60 // wrong ones a minute, over all
	defaultDays   = 30
	maxDays       = 366
	defaultPerDay = 5
	tokenPrefix   = "agt_"
)

// Grant is what a person gives to an agent.
type Grant struct {
	// User is whose agent it is; "" is the site's owner.
	User string `json:"user"`
	// Actions are those that the agent can run.
	Actions []string `json:"actions"`
	// PerCall is the most that one call can cost, as a decimal number; "" is no limit.
	PerCall string `json:"per_call,omitzero"`
	// PerDay is how often the agent can call in a day (UTC); 0 is 5.
	PerDay int `json:"per_day"`
	// Days is how long the token is good for; 0 is 30.
	Days int `json:"days,omitzero"`
}

// Token is an agent that was let in, as the owner sees it. The secret is not kept.
type Token struct {
	// ID names the token in lists.
	ID string `json:"id"`
	// Vendor is whose agent it is.
	Vendor string `json:"vendor"`
	Grant
	// Created is when the token was exchanged.
	Created time.Time `json:"created"`
	// Expires is when it ends.
	Expires time.Time `json:"expires"`
	// UsedToday counts today's calls.
	UsedToday int `json:"used_today"`
}

// token is a token's record.
type token struct {
	ID      string    `json:"id"`
	Vendor  string    `json:"vendor"`
	Grant   Grant     `json:"grant"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Code    string    `json:"code"` // the hash of the code that it was exchanged for
	Use     use       `json:"use"`

	hash string // of the secret; the record's key
}

// use counts the calls of a day.
type use struct {
	Day string `json:"day,omitzero"`
	N   int    `json:"n,omitzero"`
}

// on returns the calls of a day.
func (u use) on(day string) int {
	if u.Day != day {
		return 0
	}
	return u.N
}

// code is a record of a code that was not exchanged yet.
type code struct {
	Vendor  string    `json:"vendor"`
	Grant   Grant     `json:"grant"`
	Expires time.Time `json:"expires"`
}

// hashOf hashes a secret of at least 40 random bits that is tried online only, so it needs
// no salt.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func newCode() string {
	b := make([]byte, codeLetters)
	_, _ = rand.Read(b) // it never fails
	for n := range b {
		b[n] = codeAlphabet[b[n]%32]
	}
	return string(b[:4]) + "-" + string(b[4:])
}

// normalCode writes a code as newCode does.
func normalCode(text string) string {
	text = strings.ToUpper(strings.Join(strings.Fields(strings.ReplaceAll(text, "-", " ")), ""))
	if len(text) != codeLetters {
		return ""
	}
	return text[:4] + "-" + text[4:]
}

func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return tokenPrefix + hex.EncodeToString(b)
}

// checkGrant completes a grant, or says what is wrong with it.
func (s *Site) checkGrant(g *Grant) error {
	if len(g.Actions) == 0 {
		return errors.New("a grant needs at least one action")
	}
	for _, id := range g.Actions {
		if _, ok := s.config.action(id); !ok {
			return fmt.Errorf("there is no action %q", id)
		}
	}
	g.Actions = slices.Compact(slices.Sorted(slices.Values(g.Actions)))
	if g.PerCall != "" {
		if _, err := x402.ParsePrice(g.PerCall); err != nil {
			return err
		}
	}
	if g.PerDay == 0 {
		g.PerDay = defaultPerDay
	}
	if g.Days == 0 {
		g.Days = defaultDays
	}
	if g.User == "" {
		g.User = Owner
	}
	if g.PerDay < 1 || g.Days < 1 || g.Days > maxDays {
		return fmt.Errorf("a grant is for 1 to %d days, with at least one call a day", maxDays)
	}
	return nil
}

// Owner is the user of a grant that names none.
const Owner = "owner"

// issue makes a code for a grant.
func (s *Site) issue(vendor string, g Grant) (string, error) {
	if err := s.checkGrant(&g); err != nil {
		return "", err
	}
	secret, now := newCode(), s.now()
	c := &code{vendor, g, now.Add(codeLife)}
	s.mu.Lock()
	s.expire(now)
	if len(s.tokens)+len(s.codes) >= s.limits.Tokens {
		s.mu.Unlock()
		return "", fmt.Errorf("there are %d agents already; revoke one first", s.limits.Tokens)
	}
	key := hashOf(secret)
	s.codes[key] = c
	b := s.journal.add(Change{"code/" + key, ahp.MustMarshal(c)})
	s.mu.Unlock()
	s.changed()
	if err := s.journal.commit(b); err != nil {
		s.mu.Lock()
		delete(s.codes, key)
		s.mu.Unlock()
		return "", err
	}
	return secret, nil
}

// exchange returns the token for a code. A code that is used a second time was learned by
// two parties, so the token of the first use is revoked.
func (s *Site) exchange(text string) (string, *token, *Refusal) {
	key, now := hashOf(normalCode(text)), s.now()
	wrong := refuse(http.StatusBadRequest, CodeInvalidCode, "the code is wrong, was used, or is over; ask for another")
	s.mu.Lock()
	s.expire(now)
	if r := s.tries.full(now); r != nil {
		s.mu.Unlock()
		return "", nil, r
	}
	c, ok := s.codes[key]
	if !ok {
		s.tries.count(now)
		first := s.byCode(key)
		s.mu.Unlock()
		if first != "" {
			_ = s.Revoke(first) // the answer is the same; a store that failed refuses all calls
		}
		return "", nil, wrong
	}
	secret := newToken()
	t := &token{ID: "tok_" + strings.ToLower(rand.Text()[:10]), Vendor: c.Vendor, Grant: c.Grant, Created: now, Expires: now.Add(time.Duration(c.Grant.Days) * 24 * time.Hour), Code: key, hash: hashOf(secret)}
	delete(s.codes, key)
	s.tokens[t.hash] = t
	b := s.journal.add(Change{"code/" + key, nil}, t.change())
	s.mu.Unlock()
	s.changed()
	if err := s.journal.commit(b); err != nil {
		s.mu.Lock()
		delete(s.tokens, t.hash)
		s.mu.Unlock()
		return "", nil, s.storeFailed(err)
	}
	return secret, t, nil
}

func (t *token) change() Change { return Change{"token/" + t.hash, ahp.MustMarshal(t)} }

// byCode returns the id of the token that a code was exchanged for. mu is held.
func (s *Site) byCode(key string) string {
	for _, t := range s.tokens {
		if t.Code == key {
			return t.ID
		}
	}
	return ""
}

// expire forgets tokens and codes that are over. mu is held.
func (s *Site) expire(now time.Time) {
	for key, c := range s.codes {
		if !now.Before(c.Expires) {
			delete(s.codes, key)
			s.journal.add(Change{"code/" + key, nil})
		}
	}
	for key, t := range s.tokens {
		if !now.Before(t.Expires) {
			delete(s.tokens, key)
			s.journal.add(Change{"token/" + key, nil})
		}
	}
}

// ErrNoToken is returned for a token that does not exist, or not any more.
var ErrNoToken = errors.New("there is no such agent")

// Revoke ends a token by its id. When it has returned, the token is refused, also after a
// restart; a call that runs is not interrupted.
func (s *Site) Revoke(id string) error {
	return s.revoke(func(t *token) bool { return t.ID == id })
}

func (s *Site) revoke(is func(*token) bool) error {
	s.mu.Lock()
	var b *batch
	for key, t := range s.tokens {
		if is(t) {
			delete(s.tokens, key)
			b = s.journal.add(Change{"token/" + key, nil})
		}
	}
	s.mu.Unlock()
	if b == nil {
		return ErrNoToken
	}
	s.changed()
	return s.journal.commit(b)
}

// Tokens returns the agents that were let in, the oldest first.
func (s *Site) Tokens() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.now())
	today, out := dayOf(s.now()), []Token{}
	for _, t := range s.tokens {
		out = append(out, Token{t.ID, t.Vendor, t.Grant, t.Created, t.Expires, t.Use.on(today)})
	}
	slices.SortFunc(out, func(a, b Token) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// dayOf is the calendar day that counts are for.
func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// tooDear reports whether a price is above what a grant allows for a call.
func (g Grant) tooDear(p aam.Pricing) bool {
	if g.PerCall == "" || p.Free() {
		return false
	}
	most, err1 := x402.ParsePrice(g.PerCall)
	price, err2 := x402.ParsePrice(p.Amount)
	return err1 != nil || err2 != nil || price.Cmp(most) > 0
}
