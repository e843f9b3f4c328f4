package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// Store is a set of tokens. Make it with [Open] or [New]. Its methods may be called
// concurrently.
type Store struct {
	name string // of the file; "" keeps nothing
	now  func() time.Time

	changing sync.Mutex // held while the file is written
	tokens   atomic.Pointer[map[string]*record]
}

// New returns a store that keeps nothing.
func New() *Store {
	s := &Store{now: time.Now}
	s.tokens.Store(&map[string]*record{})
	return s
}

// Open returns the store in a file, which need not exist. One process may have it open.
func Open(name string) (*Store, error) {
	s := New()
	s.name = name
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("tokens: %w", err)
	}
	all, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("tokens: %s is damaged (%w); remove it to start without the tokens that it lists", name, err)
	}
	s.tokens.Store(&all)
	return s, nil
}

// SetClock replaces the clock, for tests. Call it before the store is used.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// HashOf returns the SHA-256 of a secret in hex, which is all that a store keeps of it.
func HashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// NewSecret returns 256 random bits as text that fits into a header, a subprotocol and a
// fragment.
func NewSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Find returns the token with a secret, if it opens connections.
func (s *Store) Find(secret string) (Entry, bool) {
	r := s.record(secret)
	if r == nil || !r.opens(s.now()) {
		return Entry{}, false
	}
	return r.Entry, true
}

// record returns the record of a secret, or nil.
func (s *Store) record(secret string) *record {
	hash := HashOf(secret)
	r := (*s.tokens.Load())[hash[:16]]
	if r == nil || subtle.ConstantTimeCompare([]byte(hash), []byte(r.Hash)) != 1 {
		return nil
	}
	return r
}

// Opens reports whether a token opens connections, by its id.
func (s *Store) Opens(id string) bool {
	r := (*s.tokens.Load())[id]
	return r != nil && r.opens(s.now())
}

// Hash returns the SHA-256 of the token with an id that opens connections, or "". A host
// proves with it that it knows the token.
func (s *Store) Hash(id string) string {
	if r := (*s.tokens.Load())[id]; r != nil && r.opens(s.now()) {
		return r.Hash
	}
	return ""
}

// Entry returns the token with an id that opens connections, and the SHA-256 of its secret,
// or "".
func (s *Store) Entry(id string) (e Entry, hash string) {
	if r := (*s.tokens.Load())[id]; r != nil && r.opens(s.now()) {
		return r.Entry, r.Hash
	}
	return Entry{}, ""
}

// Owners returns the ids of the tokens that name a client id.
func (s *Store) Owners(clientID string) (ids []string) {
	for id, r := range *s.tokens.Load() {
		if r.ClientID == clientID && clientID != "" && r.opens(s.now()) {
			ids = append(ids, id)
		}
	}
	return ids
}

// List returns the tokens that are good, and invitations that were used in the last day,
// the oldest first.
func (s *Store) List() []Entry {
	var all []Entry
	for _, r := range *s.tokens.Load() {
		if !r.ended(s.now()) {
			all = append(all, r.Entry)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}

// Create makes a token and returns its secret, which the store does not keep.
func (s *Store) Create(r Request) (secret string, e Entry, err error) {
	if r.Kind == "" {
		r.Kind = Minted
	}
	if r.Kind == Invitation && r.Lifetime == 0 {
		r.Lifetime = InvitationTime
	}
	if err := r.check(); err != nil {
		return "", Entry{}, err
	}
	err = s.change(func(all map[string]*record) error {
		secret, e, err = s.add(all, r)
		return err
	})
	return secret, e, err
}

// add adds a token to a set that is not published yet.
func (s *Store) add(all map[string]*record, r Request) (string, Entry, error) {
	if r.Kind == Invitation {
		dropInvitations(all)
	}
	if len(all) >= MaxTokens {
		return "", Entry{}, ErrFull
	}
	secret := NewSecret()
	hash, now := HashOf(secret), s.now().UTC().Truncate(time.Second)
	e := Entry{ID: hash[:16], Kind: r.Kind, Name: r.Name, Role: r.Role, ClientID: r.ClientID, Created: now}
	if r.Lifetime > 0 {
		e.Expires = now.Add(r.Lifetime)
	}
	all[e.ID] = &record{Entry: e, Hash: hash}
	return secret, e, nil
}

// dropInvitations makes space for another invitation.
func dropInvitations(all map[string]*record) {
	var open []*record
	for _, r := range all {
		if r.Kind == Invitation && r.Used.IsZero() {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b *record) int { return a.Created.Compare(b.Created) })
	for i := 0; i <= len(open)-MaxInvitations; i++ {
		delete(all, open[i].ID)
	}
}

// Revoke removes a token by its id. Its connections are the caller's to close.
func (s *Store) Revoke(id string) (e Entry, err error) {
	err = s.change(func(all map[string]*record) error {
		r := all[id]
		if r == nil {
			return fmt.Errorf("%w: %q", ErrUnknown, id)
		}
		e = r.Entry
		delete(all, id)
		return nil
	})
	return e, err
}

// Redeem exchanges an invitation for a token of one browser, with the invitation's role.
// The error is a *UsedError if the invitation was used before, and ErrUnknown if there is
// none, or it has expired.
func (s *Store) Redeem(invitation string) (secret string, e Entry, err error) {
	err = s.change(func(all map[string]*record) error {
		r := s.record(invitation)
		switch {
		case r == nil || r.Kind != Invitation || r.ended(s.now()):
			return ErrUnknown
		case !r.Used.IsZero():
			return &UsedError{r.Used, r.Entry}
		}
		used := *r
		used.Used = s.now().UTC().Truncate(time.Second)
		used.Expires = used.Used.Add(usedTime)
		all[r.ID] = &used
		secret, e, err = s.add(all, Request{Kind: Person, Name: r.Name, Role: r.Role, Lifetime: PersonTime})
		return err
	})
	return secret, e, err
}

// Expire removes the tokens that have ended and returns those that opened connections.
func (s *Store) Expire() (ended []Entry, err error) {
	now := s.now()
	for _, r := range *s.tokens.Load() {
		if r.ended(now) {
			ended = append(ended, r.Entry)
		}
	}
	if len(ended) == 0 {
		return nil, nil
	}
	err = s.change(func(map[string]*record) error { return nil })
	return slices.DeleteFunc(ended, func(e Entry) bool { return e.Kind == Invitation }), err
}

// change publishes a changed copy of the tokens, without those that have ended, when it
// is on disk.
func (s *Store) change(fn func(all map[string]*record) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	all := maps.Clone(*s.tokens.Load())
	now := s.now()
	maps.DeleteFunc(all, func(_ string, r *record) bool { return r.ended(now) })
	if err := fn(all); err != nil {
		return err
	}
	if s.name != "" {
		if err := durable.Replace(s.name, encode(all)); err != nil {
			return fmt.Errorf("tokens: %w", err)
		}
	}
	s.tokens.Store(&all)
	return nil
}

// encode returns the content of the file.
func encode(all map[string]*record) []byte {
	f := file{Version: fileVersion, Tokens: []record{}}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		f.Tokens = append(f.Tokens, *all[id])
	}
	return ahp.MustMarshal(f)
}
