package aamid_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid"
)

type vectors struct {
	Site           string
	RequiredScope  string `json:"required_scope"`
	TrustedIssuer  string `json:"trusted_issuer"`
	EvaluateAtUnix int64
	JWKS           json.RawMessage
	Cases          []struct{ Name, Expect, JWT string }
}

// env is a verifier of the vectors' issuer, whose keys are on a real socket.
type env struct {
	vectors
	verifier *aamid.Verifier
	fetches  atomic.Int32
	clock    atomic.Int64
	body     atomic.Pointer[[]byte]
}

func newEnv(t testing.TB) *env {
	t.Helper()
	raw, err := os.ReadFile("testdata/aam_id_jwt_vectors_jose.json")
	if err != nil {
		t.Fatal(err)
	}
	e := &env{}
	if err := json.Unmarshal(raw, &e.vectors); err != nil {
		t.Fatal(err)
	}
	body := []byte(e.JWKS)
	e.body.Store(&body)
	e.clock.Store(e.EvaluateAtUnix)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.fetches.Add(1)
		_, _ = w.Write(*e.body.Load())
	}))
	t.Cleanup(srv.Close)
	e.verifier = &aamid.Verifier{
		Issuers: map[string]string{e.TrustedIssuer: srv.URL},
		Keys:    aamid.NewKeys(http.DefaultClient, func() time.Time { return time.Unix(e.clock.Load(), 0) }),
	}
	return e
}

func (e *env) want() aamid.Want {
	return aamid.Want{Audience: e.Site, Vendor: "claude-code", Scope: e.RequiredScope, Now: time.Unix(e.EvaluateAtUnix, 0)}
}

func class(err error) string {
	if e, ok := errors.AsType[*aamid.Error](err); ok {
		return e.Class
	}
	return fmt.Sprint(err)
}

// TestVectors holds the 15 credentials that jose signed against their verdicts.
func TestVectors(t *testing.T) {
	e := newEnv(t)
	if len(e.Cases) != 15 {
		t.Fatalf("%d cases, want 15", len(e.Cases))
	}
	for _, c := range e.Cases {
		t.Run(c.Name, func(t *testing.T) {
			_, err := e.verifier.Verify(t.Context(), c.JWT, e.want())
			got := "accept"
			if err != nil {
				got = "reject:" + class(err)
				if parts := strings.Split(c.JWT, "."); strings.Contains(err.Error(), parts[1]) {
					t.Error("the error quotes the credential")
				}
			}
			if got != c.Expect {
				t.Errorf("got %s, want %s", got, c.Expect)
			}
		})
	}
}

func (e *env) jwt(name string) string {
	for _, c := range e.Cases {
		if strings.HasPrefix(c.Name, name) {
			return c.JWT
		}
	}
	panic("no case " + name)
}

// TestRefetch fetches once for many callers, and once a minute at most for unknown kids.
func TestRefetch(t *testing.T) {
	e := newEnv(t)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := e.verifier.Verify(context.Background(), e.jwt("valid"), e.want()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := e.fetches.Load(); n != 1 {
		t.Fatalf("%d fetches for 100 callers, want 1", n)
	}
	e.clock.Add(61)
	for n := range 1000 {
		_, err := e.verifier.Keys.Key(t.Context(), e.verifier.Issuers[e.TrustedIssuer], fmt.Sprintf("kid-%d", n))
		if class(err) != aamid.UnknownKey {
			t.Fatal(err)
		}
	}
	if n := e.fetches.Load(); n != 2 {
		t.Errorf("%d fetches after 1000 unknown kids, want 2", n)
	}
	e.clock.Add(24 * 3600)
	if _, err := e.verifier.Verify(t.Context(), e.jwt("valid"), e.want()); err != nil || e.fetches.Load() != 3 {
		t.Errorf("after a day: %v, %d fetches", err, e.fetches.Load())
	}
}

// TestBadKeys refuses sets that are too large, and keys that are too weak.
func TestBadKeys(t *testing.T) {
	weak := base64.RawURLEncoding.EncodeToString([]byte("\xff" + strings.Repeat("x", 127)))
	for name, body := range map[string]string{
		"1 MiB":    `{"keys":[],"pad":"` + strings.Repeat("x", 1<<20) + `"}`,
		"33 keys":  `{"keys":[` + strings.Repeat(`{},`, 32) + `{}]}`,
		"html":     `<html>`,
		"two keys": "",
	} {
		e := newEnv(t)
		if name == "two keys" {
			body = strings.Replace(string(e.JWKS), "key-2026-05", "key-2026-04", 1)
		}
		raw := []byte(body)
		e.body.Store(&raw)
		if _, err := e.verifier.Verify(t.Context(), e.jwt("valid"), e.want()); class(err) != aamid.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := newEnv(t)
	raw := []byte(`{"keys":[{"kty":"RSA","kid":"key-2026-04","e":"AQAB","n":"` + weak + `"}]}`)
	e.body.Store(&raw)
	if _, err := e.verifier.Verify(t.Context(), e.jwt("valid"), e.want()); class(err) != aamid.UnknownKey {
		t.Errorf("1024 bits: %v", err)
	}
}

// TestForms refuses what is no credential, another vendor and another time.
func TestForms(t *testing.T) {
	e := newEnv(t)
	good := e.jwt("valid")
	_, rest, _ := strings.Cut(good, ".")
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"key-2026-05","kid":"key-2026-04"}`))
	for name, token := range map[string]string{
		"two parts":     "a.b",
		"four parts":    good + ".x",
		"9 KiB":         good + strings.Repeat("A", 9<<10),
		"two kids":      head + "." + rest,
		"empty":         "",
		"critical":      base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"key-2026-04","crit":["b64"]}`)) + "." + rest,
		"JSON form":     `{"payload":"","signatures":[]}`,
		"not canonical": good + "=",
	} {
		if _, err := e.verifier.Verify(t.Context(), token, e.want()); class(err) != aamid.Malformed {
			t.Errorf("%s: %v", name, err)
		}
	}
	want := e.want()
	want.Vendor = "phone.example"
	if _, err := e.verifier.Verify(t.Context(), good, want); class(err) != aamid.Vendor {
		t.Errorf("vendor: %v", err)
	}
	c, err := e.verifier.Verify(t.Context(), good, e.want())
	if err != nil || c.UserHash() != "ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976" {
		t.Errorf("%s, %v", c.UserHash(), err)
	}
}

// FuzzVerify looks for a credential that panics, or that is accepted and is no vector.
func FuzzVerify(f *testing.F) {
	e := newEnv(f)
	accepted := map[string]bool{}
	for _, c := range e.Cases {
		f.Add(c.JWT)
		if c.Expect == "accept" {
			accepted[c.JWT] = true
			f.Add(c.JWT[:200] + "\n" + c.JWT[200:])                     // a decoder ignores it
			f.Add(c.JWT[:len(c.JWT)-1] + string(c.JWT[len(c.JWT)-1]+1)) // spare bits
		}
	}
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := e.verifier.Verify(t.Context(), token, e.want()); err == nil && !accepted[token] {
			t.Errorf("accepted %q", token)
		}
	})
}
