package aam

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// maxCredential is the longest token or credential.
const maxCredential = 8 << 10

// anySite is the audience of a credential for every site.
const anySite = "any"

// credential is the part of an AAM ID credential that its holder checks. The site checks
// the signature.
type credential struct {
	Issuer   string    `json:"iss"`
	Audience ahp.Value `json:"aud"`
	Expires  int64     `json:"exp"`
	Vendor   string    `json:"agent_vendor"`
	Scopes   []string  `json:"scopes,omitzero"`
	Rest     ahp.Value `json:",embed"`
}

func badCredential(why string) *Error { return errorf(CodeSignInFailed, "/input/code", "%s", why) }

// isCredential reports whether what a person brought is a credential, and no code.
func isCredential(text string) bool {
	return strings.Count(text, ".") == 2 && strings.HasPrefix(text, "ey")
}

// keepCredential checks a credential and keeps it.
func (c *Client) keepCredential(m *Manifest, person, text string) (SignedIn, error) {
	parts := strings.Split(text, ".")
	var head struct {
		Alg  string    `json:"alg"`
		Rest ahp.Value `json:",embed"`
	}
	var claims credential
	if len(text) > maxCredential || !segment(parts[0], &head) || !segment(parts[1], &claims) {
		return SignedIn{}, badCredential("the credential cannot be read")
	}
	audience := audiences(claims.Audience)
	issued := slices.ContainsFunc(m.Auth.Proofs, func(p Proof) bool {
		return p.Type == ProofAAMID && p.Issuer == claims.Issuer && p.Issuer != ""
	})
	end := time.Unix(claims.Expires, 0)
	switch {
	case head.Alg != "RS256":
		return SignedIn{}, badCredential("the credential is not signed with RS256")
	case !issued:
		return SignedIn{}, badCredential("the site does not accept the credential's issuer")
	case claims.Expires <= 0 || !c.now().Before(end):
		return SignedIn{}, badCredential("the credential has expired, or has no end")
	case claims.Vendor != c.vendor:
		return SignedIn{}, badCredential("the credential is for agents of " + quote(claims.Vendor) + ", not of " + quote(c.vendor))
	case !slices.Contains(audience, anySite) && !slices.Contains(audience, m.at.Hostname()):
		return SignedIn{}, badCredential("the credential is for another site")
	}
	key := Key{KindCredential, claims.Issuer, person, c.vendor}
	if err := c.vault.Put(key, Secret{Value: text, Expires: end, Audience: audience}); err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Expires: end, Credential: true}, nil
}

// segment decodes one part of a credential.
func segment(part string, out any) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	return err == nil && ahp.Unmarshal(raw, out) == nil
}

// audiences reads the claim aud: one text, or several.
func audiences(v ahp.Value) (list []string) {
	var one string
	if v.Kind() == '"' && ahp.Unmarshal(v, &one) == nil {
		return []string{one}
	}
	if v.Kind() == '[' {
		_ = ahp.Unmarshal(v, &list) // an empty audience is refused
	}
	return list
}

// found is a secret for a call, and where it is kept.
type found struct {
	key    Key
	secret Secret
}

// find returns what a call at the site sends: its token, otherwise a credential for it. The
// second result is a credential for any site that may not go to this one yet.
func (c *Client) find(m *Manifest, site Site, person string) (use, blocked *found) {
	key := Key{KindToken, site.String(), person, c.vendor}
	if s, ok := c.vault.Get(key); ok && (s.Expires.IsZero() || c.now().Before(s.Expires)) {
		return &found{key, s}, nil
	}
	for _, p := range m.Auth.Proofs {
		key := Key{KindCredential, p.Issuer, person, c.vendor}
		s, ok := c.vault.Get(key)
		if p.Type != ProofAAMID || !ok || !c.now().Before(s.Expires) {
			continue
		}
		switch {
		case slices.Contains(s.Audience, m.at.Hostname()), slices.Contains(s.Audience, anySite) && slices.Contains(s.Sites, site.Origin):
			return &found{key, s}, nil
		case slices.Contains(s.Audience, anySite):
			blocked = &found{key, s}
		}
	}
	return nil, blocked
}

// Blocked returns the issuer of a credential for any site that could be used at this one if
// the person let it; "" if there is none, or the person is signed in.
func (c *Client) Blocked(m *Manifest, site Site, person string) string {
	if use, blocked := c.find(m, site, person); use == nil && blocked != nil {
		return blocked.key.At
	}
	return ""
}

// Allow lets a credential for any site go to this one. The caller has the person's PIN: a
// site that receives the credential can use it elsewhere.
func (c *Client) Allow(m *Manifest, site Site, person string) error {
	_, blocked := c.find(m, site, person)
	if blocked == nil {
		return nil
	}
	s := blocked.secret
	s.Sites = append(slices.Clone(s.Sites), site.Origin)
	return c.vault.Put(blocked.key, s)
}
