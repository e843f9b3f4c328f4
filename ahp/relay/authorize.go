package relay

import (
	"context"
	"errors"
)

// Audience is which door a token opens.
type Audience string

// The audiences: a token of one is worth nothing at the other's door.
const (
	ForHost   Audience = "host"
	ForClient Audience = "client"
)

// Grant is what a token allows.
type Grant struct {
	// Subject names the holder. It goes to the host, and a client's lanes are
	// counted under it.
	Subject string
	// ClientID is the only client id that a client may claim; "" is any.
	ClientID string
	// Lanes is how many lanes a client may have at once; 0 is the edge's own
	// limit.
	Lanes int
	// Valid is done when the token is withdrawn or runs out: what it opened ends
	// then. Nil is for ever.
	Valid context.Context
}

// Authorizer judges tokens. It is called for each connection and may be called
// concurrently; the context ends with the time for a handshake.
type Authorizer interface {
	// Authorize returns what a token allows at a door for a host, or
	// ErrUnknownToken (401), ErrForbidden (403), or another error (503).
	Authorize(ctx context.Context, door Audience, token, host string) (Grant, error)
}

// What an [Authorizer] answers.
var (
	ErrUnknownToken = errors.New("a valid token is needed")
	ErrForbidden    = errors.New("this token does not open this door")
)
