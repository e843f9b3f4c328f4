package proof

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrUnverified is returned if a host has proven itself before, and the program that
// listens at its address now does not. The token has not been sent. The host might
// return later.
var ErrUnverified = errors.New("the server at this address is not the host that was there before: it does not know the token, which was not sent")

// DialFunc opens a socket, as net.Dialer's DialContext does.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Verifier opens connections to one host, each of which will carry a token. Clients of
// the same host with the same token should share a Verifier, which remembers whether the
// host can prove itself. Its methods may be called concurrently.
type Verifier struct {
	at, token string // at is "" if nothing is asked
	dial      DialFunc

	mu    sync.Mutex
	known kind
}

// kind is what is known about the server at the address.
type kind int

const (
	unknown kind = iota // it has never answered
	silent              // it accepted the request and did not answer in time
	other               // it answered without a proof
	proving             // it has proven itself
)

// timeout returns how long to wait for an answer. A host that has proven itself has as
// long as the page gives it, because it gets no token otherwise. Any other server gets
// the token anyway, and a host of this module answers within milliseconds.
func (k kind) timeout() time.Duration {
	switch k {
	case proving:
		return 5 * time.Second
	case silent:
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}

// NewVerifier returns the Verifier of a host. rawURL is the ws, wss, http or https URL
// that gets the token. If token is "", it is taken from the URL's query ("tkn"). A nil
// dial means that of a net.Dialer. If nothing is asked (see the package comment), Dial
// only calls dial.
func NewVerifier(rawURL, token string, dial DialFunc) *Verifier {
	v := &Verifier{token: token, dial: dial}
	if dial == nil {
		v.dial = new(net.Dialer).DialContext
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return v // dialing it will return the error
	}
	if token == "" {
		v.token = u.Query().Get("tkn")
	}
	if v.token != "" && (u.Scheme == "ws" || u.Scheme == "http") && (u.Path == "/ahp" || u.Path == "/mcp") {
		v.at = strings.ToLower(u.Host)
	}
	return v
}

// Dial opens a connection to the host. If the host has proven itself before, it must do
// so on this connection, too. Otherwise the error is [ErrUnverified], or another one if
// the host does not answer in time.
func (v *Verifier) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := v.dial(ctx, network, addr)
	known := v.learn(unknown)
	if err != nil || v.at == "" || known == other {
		return nc, err
	}
	err = ask(ctx, nc, v.at, v.token, known.timeout())
	if err == nil {
		v.learn(proving)
		return nc, nil
	}
	nc.Close()
	switch answered := errors.Is(err, errNoProof); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case v.learn(unknown) == proving && answered:
		return nil, ErrUnverified
	case v.learn(unknown) == proving:
		return nil, fmt.Errorf("the host did not prove that it knows the token: %w", err)
	case answered:
		v.learn(other)
	case errors.Is(err, os.ErrDeadlineExceeded):
		v.learn(silent)
	}
	return v.dial(ctx, network, addr)
}

// learn records what a host is, and returns what is known. A host that has proven itself
// stays proving.
func (v *Verifier) learn(k kind) kind {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known = max(v.known, k)
	return v.known
}
