package site

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"time"
)

// requestLife is how long a request waits for the owner.
const requestLife = 10 * time.Minute

// Request is an agent that asks to be let in.
type Request struct {
	// ID is the number that the requesting page shows, as in "42-17". The owner compares
	// it, because anyone can file a request.
	ID string `json:"id"`
	// Vendor is whose agent asks. It is a claim.
	Vendor string `json:"vendor"`
	// Actions are those that it asks for.
	Actions []string `json:"actions"`
	// Filed is when it asked.
	Filed time.Time `json:"filed"`
}

// file files a request.
func (s *Site) file(vendor string, actions []string) (Request, *Refusal) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireRequests(now)
	if r := s.asked.full(now); r != nil {
		return Request{}, r
	}
	if len(s.requests) >= s.limits.Requests {
		r := refuse(http.StatusTooManyRequests, CodeLimit, "%d requests wait for the owner already", len(s.requests))
		r.RetryAfter = requestLife
		return Request{}, r
	}
	s.asked.count(now)
	req := Request{s.freeNumber(), vendor, actions, now}
	s.requests = append(s.requests, req)
	s.changed()
	return req, nil
}

// freeNumber returns a number that no waiting request has. mu is held.
func (s *Site) freeNumber() string {
	for {
		n, _ := rand.Int(rand.Reader, big.NewInt(10_000)) // it never fails
		id := fmt.Sprintf("%02d-%02d", n.Int64()/100, n.Int64()%100)
		if !slices.ContainsFunc(s.requests, func(r Request) bool { return r.ID == id }) {
			return id
		}
	}
}

// expireRequests forgets requests that waited too long. mu is held.
func (s *Site) expireRequests(now time.Time) {
	s.requests = slices.DeleteFunc(s.requests, func(r Request) bool { return now.Sub(r.Filed) >= requestLife })
}

// Pending returns the requests that wait for the owner, the oldest first.
func (s *Site) Pending() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireRequests(s.now())
	return slices.Clone(s.requests)
}

// Approve grants a pending request. The person gives the code to the agent, which
// exchanges it once, within ten minutes, for a token. Without actions in the grant, the
// requested ones are granted.
func (s *Site) Approve(id string, g Grant) (code string, err error) {
	r, err := s.takeRequest(id)
	if err != nil {
		return "", err
	}
	if len(g.Actions) == 0 {
		g.Actions = r.Actions
	}
	code, err = s.issue(r.Vendor, g)
	if err != nil {
		s.mu.Lock()
		s.requests = append(s.requests, r) // the owner can correct the grant
		s.mu.Unlock()
	}
	return code, err
}

// Refuse drops a pending request.
func (s *Site) Refuse(id string) error {
	_, err := s.takeRequest(id)
	if err == nil {
		s.changed()
	}
	return err
}

func (s *Site) takeRequest(id string) (Request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireRequests(s.now())
	n := slices.IndexFunc(s.requests, func(r Request) bool { return r.ID == id })
	if n < 0 {
		return Request{}, fmt.Errorf("there is no request %q; it was decided, or it is over", id)
	}
	r := s.requests[n]
	s.requests = slices.Delete(s.requests, n, n+1)
	return r, nil
}
