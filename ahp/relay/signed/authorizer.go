package signed

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// Options configures an [Authorizer]. Keys is required.
type Options struct {
	// Keys are the public keys of those who may sign tokens.
	Keys []ed25519.PublicKey
	// Revoked is a file with the ids of revoked tokens, one a line; "" for none. Lines that
	// begin with # are comments.
	Revoked string
	// Logger receives the log; nil discards it.
	Logger *slog.Logger
}

// Authorizer is a relay.Authorizer for signed tokens. Revocation takes effect while Watch
// runs.
type Authorizer struct {
	opts Options

	mu      sync.Mutex
	live    map[string]*live // by id: the tokens that opened connections, until they expire
	revoked map[string]bool
	content []byte // of the file, as it was loaded last
	failing bool   // the last reload failed
	logged  time.Time
}

// live is a token that was accepted.
type live struct {
	expires time.Time
	ctx     context.Context
	end     context.CancelFunc
}

// New makes an Authorizer and reads the file of revoked ids.
func New(opts Options) (*Authorizer, error) {
	if len(opts.Keys) == 0 {
		return nil, errors.New("signed: Options.Keys is empty; a public key is required")
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	a := &Authorizer{opts: opts, live: map[string]*live{}}
	return a, a.load()
}

// Watch reads the file of revoked ids again when it has changed, and ends what expired tokens
// opened, until ctx is canceled. Then it ends everything that a token opened.
func (a *Authorizer) Watch(ctx context.Context) {
	tick := time.NewTicker(relay.ReloadInterval)
	defer tick.Stop()
	defer a.end(func(string, *live) bool { return true })
	for {
		select {
		case <-tick.C:
			a.reload()
			now := time.Now()
			a.end(func(_ string, l *live) bool { return !now.Before(l.expires) })
		case <-ctx.Done():
			return
		}
	}
}

// end invalidates the accepted tokens for which over returns true.
func (a *Authorizer) end(over func(id string, l *live) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, l := range a.live {
		if over(id, l) {
			l.end()
			delete(a.live, id)
		}
	}
}

// reload loads the file. It logs the first of several failures.
func (a *Authorizer) reload() {
	err := a.load()
	a.mu.Lock()
	first := err != nil && !a.failing
	a.failing = err != nil
	a.mu.Unlock()
	if first {
		a.opts.Logger.Error("cannot load the file of revoked tokens; the ids of its last version stay revoked", "err", err)
	}
}

// maxRevoked limits the file of revoked ids in bytes.
const maxRevoked = 16 << 20

func (a *Authorizer) load() error {
	if a.opts.Revoked == "" {
		return nil
	}
	info, err := os.Stat(a.opts.Revoked)
	if err != nil {
		return fmt.Errorf("revoked tokens: %w", err)
	}
	if info.Size() > maxRevoked {
		return fmt.Errorf("revoked tokens: file %q has %d bytes, above 16 MiB", a.opts.Revoked, info.Size())
	}
	data, err := os.ReadFile(a.opts.Revoked)
	if err != nil {
		return fmt.Errorf("revoked tokens: %w", err)
	}
	a.mu.Lock()
	same := a.content != nil && bytes.Equal(data, a.content)
	a.mu.Unlock()
	if same {
		return nil
	}
	ids, err := parseRevoked(data)
	if err != nil {
		return fmt.Errorf("revoked tokens: file %q: %w", a.opts.Revoked, err)
	}
	a.mu.Lock()
	a.revoked, a.content = ids, append([]byte{}, data...)
	a.mu.Unlock()
	a.end(func(id string, _ *live) bool { return ids[id] })
	return nil
}

// parseRevoked parses a file of ids.
func parseRevoked(data []byte) (map[string]bool, error) {
	ids, n := map[string]bool{}, 0
	for line := range strings.Lines(string(data)) {
		n++
		id := strings.TrimSpace(line)
		if id == "" || strings.HasPrefix(id, "#") {
			continue
		}
		if !validID(id) {
			return nil, fmt.Errorf("line %d is not the id of a token, which has 1 to 64 of a-z, A-Z, 0-9, - and _", n)
		}
		ids[id] = true
	}
	return ids, nil
}

// Authorize checks a token (see relay.Authorizer).
func (a *Authorizer) Authorize(_ context.Context, audience relay.Audience, token, host string) (relay.Grant, error) {
	c, err := verify(token, a.opts.Keys)
	if err != nil {
		a.refused(err.Error(), host, Claims{})
		return relay.Grant{}, relay.ErrUnknownToken
	}
	now := time.Now()
	expires := time.Unix(c.Expires, 0)
	l, revoked := a.accept(c.ID, expires)
	switch {
	case revoked:
		a.refused("it was revoked", host, c)
		return relay.Grant{}, relay.ErrUnknownToken
	case !now.Before(expires):
		a.refused("it has expired", host, c)
		return relay.Grant{}, relay.ErrUnknownToken
	case now.Before(time.Unix(c.NotBefore, 0)):
		a.refused("it is not valid yet", host, c)
		return relay.Grant{}, relay.ErrUnknownToken
	case c.Audience != audience:
		a.refused("it is for another audience", host, c)
		return relay.Grant{}, relay.ErrForbidden
	case !c.validFor(host):
		a.refused("it is for another host", host, c)
		return relay.Grant{}, relay.ErrForbidden
	}
	return relay.Grant{Subject: c.Subject, Token: c.ID, ClientID: c.ClientID, Lanes: c.Lanes, Valid: l.ctx}, nil
}

// accept returns the life of a token, unless it was revoked. Tokens that have expired are not
// kept.
func (a *Authorizer) accept(id string, expires time.Time) (l *live, revoked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.revoked[id] {
		return nil, true
	}
	if l = a.live[id]; l == nil {
		l = &live{expires: expires}
		l.ctx, l.end = context.WithDeadline(context.Background(), expires)
		if time.Now().Before(expires) {
			a.live[id] = l
		} else {
			l.end()
		}
	}
	return l, false
}

// refused logs why a token was refused.
func (a *Authorizer) refused(why, host string, c Claims) {
	a.mu.Lock()
	now := time.Now()
	tooSoon := now.Sub(a.logged) < time.Second
	if !tooSoon {
		a.logged = now
	}
	a.mu.Unlock()
	if tooSoon {
		return
	}
	if !relay.ValidName(host) {
		host = ""
	}
	a.opts.Logger.Warn("a token was refused", "why", why, "host", host, "id", c.ID, "subject", c.Subject)
}
