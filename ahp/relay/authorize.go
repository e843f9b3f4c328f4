package relay

import (
	"cmp"
	"context"
	"errors"
)

// Audience is the endpoint for which a token is valid.
type Audience string

// The audiences. A token of one is refused at the other's endpoint.
const (
	ForHost   Audience = "host"   // a host's control connection
	ForClient Audience = "client" // a client of a host
)

// Grant is what a token allows.
type Grant struct {
	// Subject names the holder. The edge sends it to the host.
	Subject string
	// Token tells the tokens of one subject apart: the edge counts a client's lanes by
	// it, or by the subject if it is "". It discloses nothing.
	Token string
	// ClientID is the only client id that the client may use; "" allows any.
	ClientID string
	// Lanes is how many lanes the client may have at once; 0 is the edge's own
	// limit.
	Lanes int
	// Valid is canceled when the token is withdrawn or expires. The edge then
	// ends the connections that the token opened. Nil means never.
	Valid context.Context
}

// counted returns what a client's lanes are counted by.
func (g Grant) counted() string { return cmp.Or(g.Token, g.Subject) }

// Authorizer checks tokens. The edge calls it for each connection, concurrently;
// the context ends with the time for a handshake.
type Authorizer interface {
	// Authorize returns what a token allows at a host's endpoint, or
	// ErrUnknownToken (401), ErrForbidden (403), or another error (503).
	Authorize(ctx context.Context, audience Audience, token, host string) (Grant, error)
}

// Errors of an [Authorizer].
var (
	// ErrUnknownToken: the token is unknown or has expired.
	ErrUnknownToken = errors.New("a valid token is required")
	// ErrForbidden: the token is for another audience or another host.
	ErrForbidden = errors.New("this token is not valid for this endpoint or host")
)

// Authorizers are several kinds of tokens: the first that knows a token decides.
type Authorizers []Authorizer

// Authorize asks each in turn until one knows the token (see [Authorizer]).
func (a Authorizers) Authorize(ctx context.Context, audience Audience, token, host string) (Grant, error) {
	for _, one := range a {
		if grant, err := one.Authorize(ctx, audience, token, host); !errors.Is(err, ErrUnknownToken) {
			return grant, err
		}
	}
	return Grant{}, ErrUnknownToken
}
