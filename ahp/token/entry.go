package token

import (
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
)

// Kind says what a token is for.
type Kind string

const (
	// Minted is a token that was created by name, for example for an editor.
	Minted Kind = "token"
	// Invitation is good once; [Store.Redeem] exchanges it.
	Invitation Kind = "invitation"
	// Person is the token of a browser that opened an invitation.
	Person Kind = "person"
)

// Entry describes a token. It does not disclose it.
type Entry struct {
	// ID identifies the token: the first 16 hex digits of its SHA-256.
	ID string `json:"id"`
	// Kind says what the token is for.
	Kind Kind `json:"kind"`
	// Name is what people call it.
	Name string `json:"name"`
	// Role is one of package access: what the token permits.
	Role string `json:"role"`
	// ClientID is the only client id that may use the token; "" permits any.
	ClientID string `json:"clientId,omitzero"`
	// Created and Expires limit its life. A zero Expires is never.
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	// Used is when an invitation was redeemed. It is kept for a day, to say so.
	Used time.Time `json:"used,omitzero"`
}

// Request describes a token to create.
type Request struct {
	// Kind is Minted if it is empty.
	Kind Kind
	// Name, Role and ClientID are those of the Entry. Name and Role are required.
	Name, Role, ClientID string
	// Lifetime is how long the token is good; 0 is forever.
	Lifetime time.Duration
}

// The limits of a store.
const (
	// MaxTokens limits the tokens of all kinds.
	MaxTokens = 4096
	// MaxInvitations limits unused invitations; the oldest one goes.
	MaxInvitations = 64
	// MaxName limits a name, in bytes.
	MaxName = 128
	// InvitationTime is how long an invitation is good.
	InvitationTime = 10 * time.Minute
	// PersonTime is how long the token of a browser is good.
	PersonTime = 90 * 24 * time.Hour

	usedTime    = 24 * time.Hour // for which a used invitation is remembered
	maxLifetime = 10 * 365 * 24 * time.Hour
)

// The errors of a store.
var (
	// ErrUnknown is returned for an id or an invitation that the store does not have.
	ErrUnknown = errors.New("no such token")
	// ErrFull is returned at MaxTokens.
	ErrFull = fmt.Errorf("there are %d tokens, which is the limit: revoke some", MaxTokens)
)

// UsedError is returned for an invitation that was used before.
type UsedError struct {
	// At is when it was used.
	At time.Time
	// Entry is the invitation.
	Entry Entry
}

// Error says when the invitation was used.
func (e *UsedError) Error() string {
	return "this invitation was used already, at " + e.At.UTC().Format(time.RFC3339)
}

// check returns an error for a request that cannot be a token.
func (r Request) check() error {
	switch {
	case r.Kind != Minted && r.Kind != Invitation && r.Kind != Person:
		return fmt.Errorf("kind %q: want token, invitation or person", r.Kind)
	case r.Lifetime < 0 || r.Lifetime > maxLifetime:
		return fmt.Errorf("lifetime %v: want at most 10 years", r.Lifetime)
	}
	return checkTexts(r.Name, r.Role, r.ClientID)
}

func checkTexts(name, role, clientID string) error {
	switch {
	case name == "" || len(name) > MaxName || !printable(name):
		return fmt.Errorf("name %q: want 1 to %d bytes of one line", name, MaxName)
	case access.For(role).Of(ahp.Initialize.Name) == access.Denied:
		return fmt.Errorf("role %q: want one of %q", role, access.Roles())
	case len(clientID) > ahp.MaxClientID || !printable(clientID):
		return fmt.Errorf("client %q: want at most %d bytes of one line", clientID, ahp.MaxClientID)
	}
	return nil
}

func printable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// ended reports whether a token is good no more. A used invitation is listed a while.
func (e *Entry) ended(now time.Time) bool {
	return !e.Expires.IsZero() && !now.Before(e.Expires)
}

// opens reports whether the token opens a connection.
func (e *Entry) opens(now time.Time) bool { return e.Kind != Invitation && !e.ended(now) }
