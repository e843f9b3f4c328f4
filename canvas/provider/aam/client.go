package aam

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// The limits of a client.
const (
	maxAnswer    = 1 << 20
	callTimeout  = 30 * time.Second
	headTimeout  = 10 * time.Second
	callsPerSite = 4
)

// Options configures a Client. HTTP and Vendor are required.
type Options struct {
	// HTTP sends requests. It must keep redirects at the origin of the request and refuse
	// what the host must not reach, as canvas/outbound does.
	HTTP x402.Doer
	// Vendor is whose agents call.
	Vendor string
	// Vault keeps tokens. Nil is one in memory.
	Vault Vault
	// Ledger keeps payments. Nil is one in memory.
	Ledger *Ledger
	// Signer pays. Nil pays nothing.
	Signer x402.Signer
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// Client calls sites. It is safe for concurrent use.
type Client struct {
	http   x402.Doer
	vendor string
	vault  Vault
	ledger *Ledger
	signer x402.Signer
	now    func() time.Time

	mu   sync.Mutex
	busy map[string]int // calls under way, by origin
}

// New returns a client.
func New(o Options) *Client {
	c := &Client{http: o.HTTP, vendor: o.Vendor, vault: o.Vault, ledger: o.Ledger, signer: o.Signer, now: o.Now, busy: map[string]int{}}
	if c.now == nil {
		c.now = time.Now
	}
	if c.vault == nil {
		c.vault = NewVault()
	}
	if c.ledger == nil {
		c.ledger = NewLedger(c.now)
	}
	return c
}

// Vendor returns whose agents call.
func (c *Client) Vendor() string { return c.vendor }

// Ledger returns the payments.
func (c *Client) Ledger() *Ledger { return c.ledger }

// enter counts a call under way; false if there are too many.
func (c *Client) enter(origin string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[origin] >= callsPerSite {
		return false
	}
	c.busy[origin]++
	return true
}

func (c *Client) leave(origin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[origin]--; c.busy[origin] == 0 {
		delete(c.busy, origin)
	}
}

// answer is what a site answered.
type answer struct {
	status int
	header http.Header
	body   []byte
	large  bool // the body is above its limit, and is left out
}

// send sends a request once and reads its answer. An error after the request has left is
// CodeOutcomeUnknown, any other CodeSiteUnavailable.
func (c *Client) send(req *http.Request, limit int64) (answer, error) {
	var left atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteHeaders: func() { left.Store(true) },
	}))
	req.GetBody = nil // nothing sends it again
	resp, err := c.http.Do(req)
	if err != nil {
		if !left.Load() {
			return answer{}, errorf(CodeSiteUnavailable, "", "%s cannot be reached: %s", req.URL.Host, cause(err))
		}
		return answer{}, lost(req.URL.Host, err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return answer{}, lost(req.URL.Host, err)
	}
	if int64(len(a.body)) > limit {
		a.body, a.large = nil, true
	}
	return a, nil
}

func lost(host string, err error) *Error {
	return errorf(CodeOutcomeUnknown, "", "the answer of %s was lost (%s): whether the action ran is not known; it is not repeated", host, cause(err))
}

// cause is why a connection failed, without the request's address.
func cause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return ahp.Line(strings.TrimPrefix(err.Error(), "outbound: "), 200)
}

// Discover reads the manifest of a site. It tells the site the vendor and nothing else.
func (c *Client) Discover(ctx context.Context, site Site) (*Manifest, []Warning, error) {
	ctx, cancel := context.WithTimeout(ctx, headTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, site.ManifestURL(), nil)
	if err != nil {
		return nil, nil, badSite()
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Agent-Vendor", c.vendor)
	a, err := c.send(req, MaxManifest)
	if isCode(err, CodeOutcomeUnknown) {
		text, _, _ := strings.Cut(err.Error(), ": whether")
		return nil, nil, errorf(CodeSiteUnavailable, "", "%s", text)
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case a.status == http.StatusNotFound, a.status == http.StatusGone, a.status == http.StatusOK && isHTML(a):
		return nil, nil, errorf(CodeNoManifest, "", "%s publishes no agent actions", site.Host())
	case a.status != http.StatusOK:
		return nil, nil, errorf(CodeSiteUnavailable, "", "%s answers its manifest with status %d", site.Host(), a.status)
	case a.large:
		return nil, nil, errorf(CodeManifestInvalid, "", "the manifest is above %d KiB", MaxManifest>>10)
	}
	m, warnings, err := ParseManifest(a.body)
	if err != nil {
		return nil, nil, err
	}
	at, err := url.Parse(site.ManifestURL())
	if err != nil {
		return nil, nil, badSite()
	}
	more, err := m.Locate(at)
	if err != nil {
		return nil, nil, err
	}
	return m, append(warnings, more...), nil
}

// isHTML reports whether an answer is a page, as servers send it for any address.
func isHTML(a answer) bool {
	return strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("<"))
}

// SignIn returns where the person signs in. See [Manifest.SignIn].
func (c *Client) SignIn(m *Manifest, proof string, actions []string) (Link, error) {
	return m.SignIn(c.vendor, proof, actions)
}

// SignedIn is a kept token or credential.
type SignedIn struct {
	// Actions is what it permits, if the site said it.
	Actions []string
	// Expires is when it ends; zero if that is not known.
	Expires time.Time
	// Credential reports that it is a credential of AAM ID.
	Credential bool
}

// Exchange turns what a person brought from the site into a token that is kept: a code, or
// a credential of AAM ID.
func (c *Client) Exchange(ctx context.Context, m *Manifest, site Site, person, code string) (SignedIn, error) {
	code = strings.TrimSpace(code)
	if isCredential(code) {
		return c.keepCredential(m, person, code)
	}
	if code == "" || len(code) > 256 || strings.ContainsFunc(code, func(r rune) bool { return r < ' ' || r > '~' }) {
		return SignedIn{}, badCredential("this is neither a code nor a credential")
	}
	to, err := m.tokenURL()
	if err != nil {
		return SignedIn{}, errorf(CodeManifestInvalid, "/auth/token_url", "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body := ahp.MustMarshal(map[string]string{"code": code})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return SignedIn{}, errorf(CodeManifestInvalid, "/auth/token_url", "it is not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Agent-Vendor", c.vendor)
	a, err := c.send(req, 64<<10)
	if err != nil {
		return SignedIn{}, err
	}
	return c.keepToken(site, person, a)
}

// tokenAnswer is what sites answer to a code. The name of the token differs between sites.
type tokenAnswer struct {
	AccessToken string    `json:"access_token,omitzero"`
	AgentToken  string    `json:"agent_token,omitzero"`
	Token       string    `json:"token,omitzero"`
	ExpiresIn   int64     `json:"expires_in,omitzero"`
	ExpiresAt   string    `json:"expires_at,omitzero"`
	Actions     []string  `json:"actions,omitzero"`
	Rest        ahp.Value `json:",embed"`
}

func (c *Client) keepToken(site Site, person string, a answer) (SignedIn, error) {
	if a.status < 200 || a.status > 299 {
		return SignedIn{}, errorf(CodeSignInFailed, "/input/code", "%s does not take the code (status %d)", site.Host(), a.status)
	}
	var in tokenAnswer
	if ahp.Unmarshal(a.body, &in) != nil {
		return SignedIn{}, errorf(CodeSignInFailed, "", "%s answers the code with something else than a token", site.Host())
	}
	value := in.AccessToken
	for _, other := range []string{in.AgentToken, in.Token} {
		value = cmpOr(value, other)
	}
	if value == "" || len(value) > maxCredential || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return SignedIn{}, errorf(CodeSignInFailed, "", "%s answers the code with something else than a token", site.Host())
	}
	s := Secret{Value: value, Actions: in.Actions}
	if in.ExpiresIn > 0 && in.ExpiresIn < 1<<32 {
		s.Expires = c.now().Add(time.Duration(in.ExpiresIn) * time.Second)
	} else if at, err := time.Parse(time.RFC3339, in.ExpiresAt); err == nil {
		s.Expires = at
	}
	if err := c.vault.Put(Key{KindToken, site.String(), person, c.vendor}, s); err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Actions: in.Actions, Expires: s.Expires}, nil
}

// SignedInAt returns what a call of the person at the site would use.
func (c *Client) SignedInAt(m *Manifest, site Site, person string) (SignedIn, bool) {
	use, _ := c.find(m, site, person)
	if use == nil {
		return SignedIn{}, false
	}
	return SignedIn{slices.Clone(use.secret.Actions), use.secret.Expires, use.key.Kind == KindCredential}, true
}

// Forget drops the person's token of a site, and credentials that are for this site alone.
// One for any site no longer goes here.
func (c *Client) Forget(m *Manifest, site Site, person string) error {
	err := c.vault.Delete(Key{KindToken, site.String(), person, c.vendor})
	for _, p := range m.Auth.Proofs {
		key := Key{KindCredential, p.Issuer, person, c.vendor}
		if s, ok := c.vault.Get(key); ok {
			err = errors.Join(err, c.withdraw(found{key, s}, m, site))
		}
	}
	return err
}

// withdraw makes a secret no longer go to a site: other sites keep a credential that is for
// them.
func (c *Client) withdraw(f found, m *Manifest, site Site) error {
	s := f.secret
	switch {
	case f.key.Kind == KindToken, slices.Contains(s.Audience, m.at.Hostname()):
		return c.vault.Delete(f.key)
	case !slices.Contains(s.Sites, site.Origin):
		return nil
	}
	s.Sites = slices.DeleteFunc(slices.Clone(s.Sites), func(o string) bool { return o == site.Origin })
	if len(s.Sites) == 0 {
		return c.vault.Delete(f.key)
	}
	return c.vault.Put(f.key, s)
}

// RunID returns a new id of a run.
func RunID() string { return "run_" + randomID() }

// CallID returns a new id of a call.
func CallID() string { return "call_" + randomID() }

func randomID() string { return strings.ToLower(rand.Text()[:16]) }
