package site

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid"
)

// identities are the issuers of a configuration.
type identities struct {
	verifier aamid.Verifier
	all      map[string]Identity
}

func newIdentities(c Config, h Doer, now func() time.Time) (identities, error) {
	ids := identities{aamid.Verifier{Issuers: map[string]string{}, Keys: aamid.NewKeys(h, now)}, map[string]Identity{}}
	for _, i := range c.Identity {
		if _, twice := ids.all[i.Issuer]; twice {
			return ids, errors.New("the site's configuration: /identity: one issuer is listed twice")
		}
		ids.all[i.Issuer], ids.verifier.Issuers[i.Issuer] = i, i.JWKSURL
	}
	return ids, nil
}

// authenticate finds out who calls an action.
func (s *Site) authenticate(r *http.Request, a Action) (caller, *Refusal) {
	vendor := r.Header.Get("X-Agent-Vendor")
	if r.Header.Get("Authorization") == "" && a.Public {
		if !vendorID.MatchString(vendor) {
			vendor = ""
		}
		return caller{vendor: vendor, scopes: []string{}}, nil
	}
	secret, ok := bearer(r)
	if !ok {
		return caller{}, unauthorized("this action needs a credential of a person")
	}
	if vendor == "" {
		return caller{}, refuse(http.StatusBadRequest, CodeMissingHeader, "the header X-Agent-Vendor is needed with a credential")
	}
	if !vendorID.MatchString(vendor) {
		return caller{}, refuse(http.StatusBadRequest, CodeBadRequest, "X-Agent-Vendor is not a name as in assistant.example")
	}
	if strings.HasPrefix(secret, tokenPrefix) {
		return s.byToken(secret, vendor, a)
	}
	return s.byIdentity(r.Context(), secret, vendor, a)
}

// byToken checks a token: it is for a user, a vendor and actions.
func (s *Site) byToken(secret, vendor string, a Action) (caller, *Refusal) {
	hash := hashOf(secret)
	s.mu.Lock()
	s.expire(s.now())
	t := s.tokens[hash]
	s.mu.Unlock()
	switch {
	case t == nil:
		return caller{}, unauthorized("the token is unknown, has ended, or was revoked")
	case t.Vendor != vendor:
		return caller{}, refuse(http.StatusForbidden, CodeForbidden, "the token is for agents of another vendor")
	case !slices.Contains(t.Grant.Actions, a.ID):
		return caller{}, refuse(http.StatusForbidden, CodeForbidden, "the token is not for the action %q", a.ID)
	}
	return caller{user: t.Grant.User, vendor: vendor, scopes: []string{a.ID}, grant: t.Grant, hash: hash}, nil
}

// byIdentity checks an AAM ID credential. Its person is a stranger to the site, so the
// configuration says who can call, and how often.
func (s *Site) byIdentity(ctx context.Context, secret, vendor string, a Action) (caller, *Refusal) {
	claims, err := s.ids.verifier.Verify(ctx, secret, aamid.Want{Audience: s.config.Site.Domain, Vendor: vendor, Now: s.now()})
	if err != nil {
		return caller{}, identityRefusal(err)
	}
	i := s.ids.all[claims.Issuer]
	scopes := slices.DeleteFunc(i.scopesOf(a.ID), func(scope string) bool { return !slices.Contains(claims.Scopes, scope) })
	user := claims.UserHash()
	switch {
	case len(s.config.Vendors) > 0 && !slices.Contains(s.config.Vendors, vendor):
		return caller{}, refuse(http.StatusForbidden, CodeForbidden, "this site lets no agents of that vendor in")
	case len(scopes) == 0:
		return caller{}, refuse(http.StatusForbidden, CodeForbidden, "the credential has no scope for the action %q", a.ID)
	case !i.Anyone && !slices.Contains(i.Subjects, user):
		return caller{}, refuse(http.StatusForbidden, CodeForbidden, "this person is not let in here")
	}
	perDay := i.PerDay
	if perDay == 0 {
		perDay = defaultPerDay
	}
	return caller{user: user, vendor: vendor, scopes: scopes, grant: Grant{PerDay: perDay}, person: "person/" + hashOf(claims.Issuer+"\n"+user)}, nil
}

// identityRefusal says why a credential was refused.
func identityRefusal(err error) *Refusal {
	e, ok := errors.AsType[*aamid.Error](err)
	if !ok {
		return unauthorized("the credential cannot be checked")
	}
	switch e.Class {
	case aamid.Vendor, aamid.Scope:
		return refuse(http.StatusForbidden, CodeForbidden, "%s", e.Message)
	case aamid.Unavailable:
		return refuse(http.StatusServiceUnavailable, CodeUnavailable, "%s", e.Message)
	}
	return unauthorized("%s", e.Message)
}
