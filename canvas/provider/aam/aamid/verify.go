package aamid

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/jws"
)

// MaxCredential is the longest credential, in bytes.
const MaxCredential = 8 << 10

// Want is what a credential must be good for.
type Want struct {
	// Audience is the site's domain.
	Audience string
	// Vendor is who presents the credential. "" is not checked.
	Vendor string
	// Scope is what it must permit. "" is not checked.
	Scope string
	// Now is the time of the check.
	Now time.Time
}

// Verifier checks credentials.
type Verifier struct {
	// Issuers has the addresses of the keys of the trusted issuers, by issuer.
	Issuers map[string]string
	// Keys fetches and keeps them.
	Keys *Keys
}

// Verify returns the claims of a credential that is good for want. Its errors are *Error.
func (v *Verifier) Verify(ctx context.Context, token string, want Want) (Claims, error) {
	signed, kid, err := parse(token)
	if err != nil {
		return Claims{}, err
	}
	var c Claims
	if err := ahp.Unmarshal(signed.UnsafePayloadWithoutVerification(), &c); err != nil {
		return Claims{}, errorf(Malformed, "the credential's claims cannot be read")
	}
	address, trusted := v.Issuers[c.Issuer]
	if !trusted {
		return Claims{}, errorf(Issuer, "the credential's issuer is not trusted here")
	}
	key, err := v.Keys.Key(ctx, address, kid)
	if err != nil {
		return Claims{}, err
	}
	if _, err := signed.Verify(key); err != nil {
		return Claims{}, errorf(Signature, "the credential's signature is wrong")
	}
	return c, c.check(want)
}

// header is the part of a credential's header that counts.
type header struct {
	Alg  string    `json:"alg"`
	Kid  string    `json:"kid,omitzero"`
	Crit ahp.Value `json:"crit,omitzero"`
	Rest ahp.Value `json:",embed"`
}

// parse returns a credential that is signed with RS256 by a key with a kid.
func parse(token string) (*jose.JSONWebSignature, string, error) {
	head, rest, _ := strings.Cut(token, ".")
	if len(token) > MaxCredential || strings.Count(rest, ".") != 1 {
		return nil, "", errorf(Malformed, "the credential does not have three parts, or is above %d bytes", MaxCredential)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(head)
	var h header
	if err != nil || ahp.Unmarshal(raw, &h) != nil || h.Crit != nil {
		return nil, "", errorf(Malformed, "the credential's header cannot be read")
	}
	if h.Alg != string(jose.RS256) {
		return nil, "", errorf(Algorithm, "the credential is not signed with RS256")
	}
	signed, err := jws.Parse(token, jose.RS256)
	if err != nil {
		return nil, "", errorf(Malformed, "the credential cannot be read")
	}
	return signed, h.Kid, nil
}
