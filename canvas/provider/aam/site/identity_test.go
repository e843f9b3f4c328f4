package site_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

var issuerKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// issuer serves a key, and signs credentials.
type issuer struct {
	t   testing.TB
	srv *httptest.Server
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: issuerKey().Public(), KeyID: "k1", Algorithm: "RS256", Use: "sig"}}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		raw, _ := set.Keys[0].MarshalJSON()
		_, _ = w.Write([]byte(`{"keys":[` + string(raw) + `]}`))
	}))
	t.Cleanup(srv.Close)
	return &issuer{t, srv}
}

func (i *issuer) sign(claims map[string]any) string {
	i.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: issuerKey(), KeyID: "k1"}}, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(ahp.MustMarshal(claims))
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// claims of a person, for a site, with changes.
func (i *issuer) claims(e *env, change map[string]any) map[string]any {
	c := map[string]any{
		"iss": i.srv.URL, "sub": "alice@example.com", "aud": "caferosso.example", "iat": e.clock().Unix(), "exp": e.clock().Add(time.Hour).Unix(),
		"agent_vendor": vendor, "scopes": []string{"write:cards"}, "email_verified": true,
	}
	for k, v := range change {
		if v == nil {
			delete(c, k)
		} else {
			c[k] = v
		}
	}
	return c
}

// TestIdentity: an AAM ID credential is for a person, a vendor, scopes and a site; the
// person must be let in, and has a number of calls a day.
func TestIdentity(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	sum := sha256.Sum256([]byte("alice@example.com"))
	alice := hex.EncodeToString(sum[:])
	e := start(t, func(c *site.Config, _ *site.Options) {
		c.Identity = []site.Identity{{Issuer: i.srv.URL, JWKSURL: i.srv.URL + "/jwks", Scopes: map[string]string{"write:cards": "add_card", "write:all": "add_card"}, Subjects: []string{alice}, PerDay: 3}}
	})
	for name, c := range map[string]struct {
		change map[string]any
		action string
		status int
	}{
		"right":          {nil, "add_card", 200},
		"any site":       {map[string]any{"aud": "any"}, "add_card", 200},
		"a hash":         {map[string]any{"sub": alice}, "add_card", 200},
		"other person":   {map[string]any{"sub": "bob@example.com"}, "add_card", 403},
		"other vendor":   {map[string]any{"agent_vendor": "other.example"}, "add_card", 403},
		"other action":   {nil, "buy", 403},
		"no scope":       {map[string]any{"scopes": []string{"read:cards"}}, "add_card", 403},
		"other site":     {map[string]any{"aud": "other.example"}, "add_card", 401},
		"over":           {map[string]any{"exp": 1}, "add_card", 401},
		"no end":         {map[string]any{"exp": nil}, "add_card", 401},
		"future":         {map[string]any{"iat": e.clock().Add(2 * time.Minute).Unix()}, "add_card", 401},
		"not verified":   {map[string]any{"email_verified": false}, "add_card", 401},
		"unknown issuer": {map[string]any{"iss": "https://evil.example"}, "add_card", 401},
	} {
		if got := e.call(i.sign(i.claims(e, c.change)), c.action, card); got.status != c.status {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := e.call(i.sign(i.claims(e, nil)), "add_card", card); got.status != 429 {
		t.Errorf("the fourth call: %d %s", got.status, got.body)
	}
	none := strings.Split(i.sign(i.claims(e, nil)), ".")
	none[0] = "eyJhbGciOiJub25lIn0" // {"alg":"none"}
	if got := e.call(strings.Join(none, "."), "add_card", card); got.status != 401 {
		t.Errorf("alg none: %d", got.status)
	}
	if r := e.site.Newest(20); !strings.Contains(string(ahp.MustMarshal(r)), alice) || strings.Contains(string(ahp.MustMarshal(r)), "alice@") {
		t.Error("the audit has not exactly the hash of the person")
	}
	after := startOn(t, e.store, func(c *site.Config, _ *site.Options) { c.Identity = e.config.Identity })
	if got := after.call(i.sign(i.claims(e, nil)), "add_card", card); got.status != 429 {
		t.Errorf("after a restart: %d %s", got.status, got.body)
	}
}
