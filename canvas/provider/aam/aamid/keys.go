package aamid

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The limits of an issuer's keys.
const (
	maxJWKS   = 64 << 10
	maxKeys   = 32
	minBits   = 2048
	maxBits   = 8192
	keepKeys  = 24 * time.Hour
	refetch   = time.Minute
	fetchTime = 10 * time.Second
)

// Doer sends HTTP requests.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Keys keeps the keys of issuers. Make it with [NewKeys].
type Keys struct {
	http Doer
	now  func() time.Time

	mu   sync.Mutex
	sets map[string]*keySet
}

// keySet is the keys of one issuer. Its lock is a channel, so that waiting for a fetch ends
// with the caller's context.
type keySet struct {
	lock    chan struct{}
	keys    map[string]*rsa.PublicKey
	fetched time.Time // the last success
	tried   time.Time
}

// NewKeys returns an empty cache. A nil clock is time.Now.
func NewKeys(h Doer, now func() time.Time) *Keys {
	if now == nil {
		now = time.Now
	}
	return &Keys{http: h, now: now, sets: map[string]*keySet{}}
}

func (k *Keys) set(address string) *keySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sets[address]
	if s == nil {
		s = &keySet{lock: make(chan struct{}, 1)}
		k.sets[address] = s
	}
	return s
}

// Key returns the key with a kid of the keys at an address, which it fetches if they are
// older than 24 hours or do not have the kid. The address must be one that the caller
// trusts.
func (k *Keys) Key(ctx context.Context, address, kid string) (*rsa.PublicKey, error) {
	s := k.set(address)
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, errorf(Unavailable, "the issuer's keys were not fetched in time")
	}
	defer func() { <-s.lock }()
	now := k.now()
	if now.Sub(s.fetched) >= keepKeys {
		s.keys = nil
	}
	if key := s.keys[kid]; key != nil {
		return key, nil
	}
	if now.Sub(s.tried) < refetch {
		return s.missing(kid)
	}
	s.tried = now
	keys, err := k.fetch(ctx, address)
	if err == nil {
		s.keys, s.fetched = keys, now
	}
	if key := s.keys[kid]; key != nil {
		return key, nil
	}
	return s.missing(kid)
}

// missing is the error for a key that is not in the set.
func (s *keySet) missing(kid string) (*rsa.PublicKey, error) {
	if s.keys == nil {
		return nil, errorf(Unavailable, "the issuer's keys cannot be fetched")
	}
	return nil, errorf(UnknownKey, "the issuer has no key %.80q", kid)
}

// fetch gets the keys at an address.
func (k *Keys) fetch(ctx context.Context, address string) (map[string]*rsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := k.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxJWKS+1))
	if err != nil {
		return nil, err
	}
	return parseKeys(raw)
}

// parseKeys reads a JWKS, and leaves out the keys that are not for RS256 signatures.
func parseKeys(raw []byte) (map[string]*rsa.PublicKey, error) {
	var in struct {
		Keys []ahp.Value `json:"keys"`
		Rest ahp.Value   `json:",embed"`
	}
	if len(raw) > maxJWKS {
		return nil, errors.New("too large")
	}
	if err := ahp.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	if len(in.Keys) > maxKeys {
		return nil, errors.New("too many keys")
	}
	keys := map[string]*rsa.PublicKey{}
	for _, v := range in.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(v) != nil || key.KeyID == "" || key.Use != "" && key.Use != "sig" ||
			key.Algorithm != "" && key.Algorithm != string(jose.RS256) {
			continue
		}
		public, ok := key.Key.(*rsa.PublicKey)
		if !ok || public.N.BitLen() < minBits || public.N.BitLen() > maxBits {
			continue
		}
		if keys[key.KeyID] != nil {
			return nil, errors.New("two keys with one kid")
		}
		keys[key.KeyID] = public
	}
	return keys, nil
}
