package aamid

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The classes of an [Error].
const (
	Malformed   = "malformed"     // not three parts, too long, or not the JSON of a credential
	Algorithm   = "alg"           // not RS256
	UnknownKey  = "unknown_key"   // the issuer has no such key
	Signature   = "signature"     // the key did not sign it
	Issuer      = "issuer"        // the issuer is not trusted
	Audience    = "audience"      // it is for another site
	Expired     = "expired"       // it has ended, or has no end
	NotYetValid = "not_yet_valid" // it begins in the future
	Scope       = "scope"         // it does not cover the action
	Unverified  = "unverified"    // the issuer has not verified the address
	Vendor      = "vendor"        // another agent's vendor presents it
	Unavailable = "unavailable"   // the issuer's keys cannot be fetched
)

// Error is why a credential is refused.
type Error struct {
	// Class is one of the constants of this package.
	Class string
	// Message is for people and agents.
	Message string
}

// Error returns the message, followed by the class.
func (e *Error) Error() string { return e.Message + " (" + e.Class + ")" }

// Is reports whether target is an *Error with the same class.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Class == e.Class
}

func errorf(class, format string, args ...any) *Error {
	return &Error{class, fmt.Sprintf(format, args...)}
}

// Any is the audience of a credential that is good at every site.
const Any = "any"

// Claims is what a credential says.
type Claims struct {
	// Issuer is who signed it.
	Issuer string `json:"iss"`
	// Subject is the person: an address or its hash.
	Subject string `json:"sub"`
	// Audience has the sites that it is for, or Any.
	Audience Strings `json:"aud"`
	// IssuedAt is when it begins, in Unix seconds.
	IssuedAt int64 `json:"iat"`
	// Expires is when it ends, in Unix seconds; 0 if it does not say.
	Expires int64 `json:"exp,omitzero"`
	// Vendor is whose agents may present it.
	Vendor string `json:"agent_vendor"`
	// Scopes is what it permits.
	Scopes []string `json:"scopes,omitzero"`
	// EmailVerified reports that the issuer has verified the address.
	EmailVerified bool `json:"email_verified,omitzero"`
	// Method is how the person was verified.
	Method string `json:"verification_method,omitzero"`
	// Name is the person's name.
	Name string `json:"name,omitzero"`
	// Rest has the claims that this package does not know.
	Rest ahp.Value `json:",embed"`
}

// Strings is one string, or an array of them.
type Strings []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *Strings) UnmarshalJSON(b []byte) error {
	if ahp.Value(b).Kind() == '"' {
		*s = Strings{""}
		return ahp.Unmarshal(b, &(*s)[0])
	}
	return ahp.Unmarshal(b, (*[]string)(s))
}

// MarshalJSON implements json.Marshaler.
func (s Strings) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return ahp.Marshal(s[0])
	}
	return ahp.Marshal([]string(s))
}

// UserHash returns the SHA-256 of the person's address, in hex. A subject that is such a
// hash is returned unchanged.
func (c Claims) UserHash() string {
	sub := strings.ToLower(strings.TrimSpace(c.Subject))
	if raw, err := hex.DecodeString(sub); err == nil && len(raw) == sha256.Size {
		return sub
	}
	sum := sha256.Sum256([]byte(sub))
	return hex.EncodeToString(sum[:])
}

// maxLife is how long a credential is good at most, whatever it says.
const maxLife = 31 * 24 * time.Hour

// End returns when the credential ends here: what it says, 31 days after its beginning at
// most.
func (c Claims) End() time.Time {
	return time.Unix(min(c.Expires, c.IssuedAt+int64(maxLife/time.Second)), 0)
}

// skew is how far a clock may be behind an issuer's.
const skew = 60 * time.Second

// check checks the claims of a credential that its issuer has signed.
func (c Claims) check(want Want) error {
	switch {
	case !slices.ContainsFunc(c.Audience, func(a string) bool { return a == Any || strings.EqualFold(a, want.Audience) }):
		return errorf(Audience, "the credential is for another site")
	case c.Expires <= 0 || !want.Now.Before(c.End()):
		return errorf(Expired, "the credential has expired, or has no end")
	case c.IssuedAt <= 0 || time.Unix(c.IssuedAt, 0).After(want.Now.Add(skew)):
		return errorf(NotYetValid, "the credential begins in the future")
	case c.Subject == "":
		return errorf(Malformed, "the credential names no person")
	case !c.EmailVerified:
		return errorf(Unverified, "the credential's issuer has not verified the address")
	case want.Vendor != "" && c.Vendor != want.Vendor:
		return errorf(Vendor, "the credential is for agents of another vendor")
	case want.Scope != "" && !slices.Contains(c.Scopes, want.Scope):
		return errorf(Scope, "the credential does not have the scope %.80q", want.Scope)
	}
	return nil
}
