package signed

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func valid() Claims {
	return Claims{Audience: relay.ForClient, Hosts: []string{"laptop", "team-*"}, Subject: "ann", Expires: time.Now().Add(time.Hour).Unix(), ClientID: "c", Lanes: 3}
}

func sign(t testing.TB, key ed25519.PrivateKey, c Claims) (string, Claims) {
	t.Helper()
	token, c, err := Sign(key, c)
	if err != nil {
		t.Fatal(err)
	}
	return token, c
}

func newAuthorizer(t testing.TB, o Options) *Authorizer {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestASignedTokenIsAccepted(t *testing.T) {
	key := newKey(t)
	a := newAuthorizer(t, Options{Keys: []ed25519.PublicKey{newKey(t).Public().(ed25519.PublicKey), key.Public().(ed25519.PublicKey)}})
	token, c := sign(t, key, valid())
	for _, host := range []string{"laptop", "team-7"} {
		g, err := a.Authorize(t.Context(), relay.ForClient, token, host)
		if err != nil || g.Subject != "ann" || g.Token != c.ID || g.ClientID != "c" || g.Lanes != 3 || g.Valid.Err() != nil {
			t.Errorf("%+v, %v", g, err)
		}
	}
}

// foreign signs any claims with any header.
func foreign(t testing.TB, key jose.SigningKey, header jose.SignerOptions, typ jose.ContentType, claims any) string {
	t.Helper()
	signer, err := jose.NewSigner(key, header.WithType(typ))
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(ahp.MustMarshal(claims))
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Each bad token is refused with the status that the edge documents, and a log line that
// says why and does not have the token.
func TestBadTokens(t *testing.T) {
	key, other := newKey(t), newKey(t)
	public := key.Public().(ed25519.PublicKey)
	good, goodClaims := sign(t, key, valid())
	parts := strings.Split(good, ".")
	with := func(change func(*Claims)) string {
		c := valid()
		c.ID = "the-id"
		change(&c)
		return foreign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, jose.SignerOptions{}, tokenType, c)
	}
	file := filepath.Join(t.TempDir(), "revoked")
	if err := os.WriteFile(file, []byte("# gone\n"+goodClaims.ID+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token, host string
		want        error
		says        string
	}{
		"HMAC with the public key": {foreign(t, jose.SigningKey{Algorithm: jose.HS256, Key: []byte(public)}, jose.SignerOptions{}, tokenType, valid()), "laptop", relay.ErrUnknownToken, "EdDSA"},
		"no algorithm":             {base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"`+tokenType+`"}`)) + "." + parts[1] + ".", "laptop", relay.ErrUnknownToken, "EdDSA"},
		"another key":              {foreign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: other}, jose.SignerOptions{}, tokenType, valid()), "laptop", relay.ErrUnknownToken, "no key"},
		"another type":             {foreign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, jose.SignerOptions{}, "JWT", valid()), "laptop", relay.ErrUnknownToken, "no token of this kind"},
		"the key in its header":    {foreign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: other}, jose.SignerOptions{EmbedJWK: true}, tokenType, valid()), "laptop", relay.ErrUnknownToken, "no token of this kind"},
		"a changed claim":          {parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2], "laptop", relay.ErrUnknownToken, "no key"},
		"a cut token":              {good[:len(good)/2], "laptop", relay.ErrUnknownToken, "no token of this kind"},
		"a long token":             {good + strings.Repeat("A", tokenLimit), "laptop", relay.ErrUnknownToken, "no token of this kind"},
		"no token":                 {"x", "laptop", relay.ErrUnknownToken, "no token of this kind"},
		"another audience":         {with(func(c *Claims) { c.Audience = relay.ForHost }), "laptop", relay.ErrForbidden, "audience"},
		"no audience":              {with(func(c *Claims) { c.Audience = "" }), "laptop", relay.ErrUnknownToken, "claims"},
		"another host":             {with(func(*Claims) {}), "desktop", relay.ErrForbidden, "another host"},
		"a pattern in the middle":  {with(func(c *Claims) { c.Hosts = []string{"a*b"} }), "laptop", relay.ErrUnknownToken, "claims"},
		"expired":                  {with(func(c *Claims) { c.Expires = time.Now().Add(-time.Second).Unix() }), "laptop", relay.ErrUnknownToken, "expired"},
		"never expires":            {with(func(c *Claims) { c.Expires = 0 }), "laptop", relay.ErrUnknownToken, "claims"},
		"too early":                {with(func(c *Claims) { c.NotBefore = time.Now().Add(time.Minute).Unix() }), "laptop", relay.ErrUnknownToken, "not valid yet"},
		"no id":                    {with(func(c *Claims) { c.ID = "" }), "laptop", relay.ErrUnknownToken, "claims"},
		"no subject":               {with(func(c *Claims) { c.Subject = "" }), "laptop", relay.ErrUnknownToken, "claims"},
		"revoked":                  {good, "laptop", relay.ErrUnknownToken, "revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			a := newAuthorizer(t, Options{Keys: []ed25519.PublicKey{public}, Revoked: file, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			g, err := a.Authorize(t.Context(), relay.ForClient, c.token, c.host)
			if !errors.Is(err, c.want) || g.Valid != nil {
				t.Errorf("%+v, %v; want %v", g, err, c.want)
			}
			if text := log.String(); !strings.Contains(text, c.says) || len(c.token) > 4 && strings.Contains(text, c.token[:min(len(c.token), 20)]) {
				t.Errorf("the log has %s", text)
			}
		})
	}
}

// An id that enters the file, and an expiry, end what the token opened. A damaged file
// revokes nothing new and forgives nothing old.
func TestRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		file := filepath.Join(t.TempDir(), "revoked")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * relay.ReloadInterval)
			synctest.Wait()
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a := newAuthorizer(t, Options{Keys: []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}, Revoked: file})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Watch(ctx) }()
		one, oneClaims := sign(t, key, valid())
		two, _ := sign(t, key, valid())
		g1, err1 := a.Authorize(ctx, relay.ForClient, one, "laptop")
		g2, err2 := a.Authorize(ctx, relay.ForClient, two, "laptop")
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		write(oneClaims.ID + "\n")
		if g1.Valid.Err() == nil || g2.Valid.Err() != nil {
			t.Errorf("revoked: %v, not revoked: %v", g1.Valid.Err(), g2.Valid.Err())
		}
		write("not an id!\n")
		if _, err := a.Authorize(ctx, relay.ForClient, one, "laptop"); !errors.Is(err, relay.ErrUnknownToken) {
			t.Errorf("a damaged file forgives: %v", err)
		}
		write("# forgiven\n")
		if _, err := a.Authorize(ctx, relay.ForClient, one, "laptop"); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if g2.Valid.Err() == nil {
			t.Error("the token did not expire")
		}
		cancel()
		<-done
	})
}

func TestKeysAsFiles(t *testing.T) {
	key := newKey(t)
	private, public, err := EncodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	k, err1 := ParsePrivateKey(private)
	p, err2 := ParsePublicKey(public)
	if err1 != nil || err2 != nil || !k.Equal(key) || !p.Equal(key.Public()) {
		t.Error(err1, err2)
	}
	if _, err := ParsePrivateKey(public); err == nil {
		t.Error("a public key was taken for a private one")
	}
	if _, err := ParsePublicKey(private); err == nil {
		t.Error("a private key was taken for a public one")
	}
}

func FuzzVerify(f *testing.F) {
	key := newKey(f)
	token, _ := sign(f, key, valid())
	f.Add(token)
	f.Add("a.b.c")
	keys := []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := verify(text, keys); err == nil && c.Subject != "ann" {
			t.Errorf("a token was forged: %+v", c)
		}
	})
}
