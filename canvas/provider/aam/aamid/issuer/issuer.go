package issuer

import (
	"crypto/rsa"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid"
)

// The paths of the handler.
const (
	PathJWKS       = "/.well-known/aam-jwks.json"
	PathConnect    = "/id/connect"
	PathTrack      = "/api/aam-id/track"
	PathReputation = "/api/aam-id/reputation/"
)

// Person is who is signed in at the issuer.
type Person struct {
	// Email is the address that the issuer has verified.
	Email string
	// Name is for sites; "" is left out.
	Name string
	// Method is how the person was verified, as in "google_oidc".
	Method string
}

// Options configures an Issuer. Origin, Key and Person are required.
type Options struct {
	// Origin is the issuer's name and address, as in https://id.example.
	Origin string
	// Key signs, with RSA of 2048 bits and more.
	Key *rsa.PrivateKey
	// KeyID names the key.
	KeyID string
	// Person returns who is signed in; false sends the request to sign in first.
	Person func(r *http.Request) (Person, bool)
	// Life is how long a credential is good; 30 days if zero.
	Life time.Duration
	// Sites has the sites that can report, by token.
	Sites map[string]string
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// Issuer issues credentials. It implements http.Handler.
type Issuer struct {
	opts   Options
	signer jose.Signer
	mux    http.ServeMux

	mu    sync.Mutex
	known map[string]*reputation
}

// New returns an issuer.
func New(o Options) (*Issuer, error) {
	if o.Key == nil || o.Key.N.BitLen() < 2048 || o.Person == nil || o.Origin == "" {
		return nil, errors.New("an issuer needs an origin, an RSA key of 2048 bits and more, and its people")
	}
	if o.KeyID == "" {
		o.KeyID = "key-1"
	}
	if o.Life == 0 {
		o.Life = 30 * 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: o.Key, KeyID: o.KeyID}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, err
	}
	i := &Issuer{opts: o, signer: signer, known: map[string]*reputation{}}
	i.mux.HandleFunc("GET "+PathJWKS, i.jwks)
	i.mux.HandleFunc("GET "+PathConnect, i.page)
	i.mux.HandleFunc("POST "+PathConnect, i.approve)
	i.mux.HandleFunc("POST "+PathTrack, i.track)
	i.mux.HandleFunc("GET "+PathReputation+"{hash}", i.reputation)
	return i, nil
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send the form with Origin: null
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	i.mux.ServeHTTP(w, r)
}

// Issue returns a credential of a person for a site, or for aamid.Any.
func (i *Issuer) Issue(p Person, site, vendor string, scopes []string) (string, error) {
	now := i.opts.Now()
	raw := ahp.MustMarshal(aamid.Claims{
		Issuer: i.opts.Origin, Subject: p.Email, Audience: aamid.Strings{site}, IssuedAt: now.Unix(), Expires: now.Add(i.opts.Life).Unix(),
		Vendor: vendor, Scopes: scopes, EmailVerified: true, Method: p.Method, Name: p.Name,
	})
	signed, err := i.signer.Sign(raw)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

func (i *Issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	key := jose.JSONWebKey{Key: i.opts.Key.Public(), KeyID: i.opts.KeyID, Algorithm: string(jose.RS256), Use: "sig"}
	raw, err := key.MarshalJSON()
	if err != nil {
		http.Error(w, "no key", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "max-age=3600")
	answer(w, http.StatusOK, struct {
		Keys []ahp.Value `json:"keys"`
	}{[]ahp.Value{raw}})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(ahp.MustMarshal(v)) // the client has left
}

// asked is what an agent asks for.
type asked struct {
	Agent  string
	Site   string
	Scopes []string
}

// read returns what the page is about; false if a part is missing or too long.
func read(get func(string) string) (asked, bool) {
	a := asked{Agent: get("agent"), Site: get("site")}
	for s := range strings.SplitSeq(get("scopes"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			a.Scopes = append(a.Scopes, s)
		}
	}
	ok := a.Agent != "" && a.Site != "" && len(a.Scopes) > 0 && len(a.Scopes) <= 64
	for _, text := range append([]string{a.Agent, a.Site}, a.Scopes...) {
		ok = ok && len(text) <= 256 && ahp.Line(text, 256) == text
	}
	return a, ok
}
