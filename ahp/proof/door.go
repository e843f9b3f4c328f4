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

// ErrStranger says that a host has proven itself before, and that what listens at
// its address now does not. It was not told the token. The host may be back later.
var ErrStranger = errors.New("what listens there now is not the host that was known: it does not prove that it knows the token")

// DialFunc opens a socket, as the DialContext of a net.Dialer does.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Door opens connections to one host, for who presents a token on each. Its Dial may
// be called concurrently. All who go to one host with one token share a Door: what
// one has learnt of the host holds for the others.
type Door struct {
	at, token string // at is "" where nothing can be asked
	open      DialFunc

	mu    sync.Mutex
	known kind
}

// kind is what was learnt of who answers.
type kind int

const (
	unknown kind = iota // nobody has answered yet
	silent              // took the question, and let its time run out
	other               // answers, and has no proofs
	proving
)

// patience is how long an answer is waited for. A host that has proven itself has as
// long as the page gives it: it gets no token without. Any other gets the token after
// that, so what is waited for is only to learn what it is; hosts of ours need
// milliseconds.
func (k kind) patience() time.Duration {
	switch k {
	case proving:
		return 5 * time.Second
	case silent:
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}

// NewDoor makes the door of a host: the ws, wss, http or https URL at which the token
// is presented, whose path is /ahp or /mcp. A token that is "" is taken from the
// URL's query ("tkn"). A nil dial is that of a net.Dialer. Where nothing can be asked
// (see the package's comment), Dial is dial.
func NewDoor(rawURL, token string, dial DialFunc) *Door {
	d := &Door{token: token, open: dial}
	if dial == nil {
		d.open = new(net.Dialer).DialContext
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return d // who dials it says what is wrong
	}
	if token == "" {
		d.token = u.Query().Get("tkn")
	}
	if d.token != "" && (u.Scheme == "ws" || u.Scheme == "http") && (u.Path == "/ahp" || u.Path == "/mcp") {
		d.at = strings.ToLower(u.Host)
	}
	return d
}

// Dial opens a connection to the host. Where the host was proven once, it is proven
// on this one too, or the error wraps [ErrStranger]; that it does not answer in time
// is an error as well.
func (d *Door) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := d.open(ctx, network, addr)
	known := d.learnt(unknown)
	if err != nil || d.at == "" || known == other {
		return nc, err
	}
	err = ask(ctx, nc, d.at, d.token, known.patience())
	if err == nil {
		d.learnt(proving)
		return nc, nil
	}
	nc.Close()
	switch answered := errors.Is(err, errNoProof); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case d.learnt(unknown) == proving && answered:
		return nil, ErrStranger
	case d.learnt(unknown) == proving:
		return nil, fmt.Errorf("the host was asked to prove itself: %w", err)
	case answered:
		d.learnt(other)
	case errors.Is(err, os.ErrDeadlineExceeded):
		d.learnt(silent)
	}
	return d.open(ctx, network, addr)
}

// learnt notes what a host is, and returns what is known of it. That it proves
// itself is never taken back.
func (d *Door) learnt(k kind) kind {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known = max(d.known, k)
	return d.known
}
