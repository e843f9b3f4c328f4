package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// keys are the tokens of a host: its view and agent token, those of Options.Tokens, and
// those of its store.
type keys struct {
	fixed atomic.Pointer[[]ws.Token] // the view token, the agent token, and Options.Tokens
	own   ws.Token                   // of the pages for pictures; only the browser of this machine has it, so it needs no proof
	store *token.Store

	mu     sync.Mutex
	active map[string]map[*context.CancelFunc]struct{} // requests over HTTP, by token
}

func newKeys(o *Options) *keys {
	k := &keys{store: o.AccessTokens, own: ws.Token{Secret: o.lookToken, Role: RoleLook, Name: "pictures of this host"}, active: map[string]map[*context.CancelFunc]struct{}{}}
	fixed := append([]ws.Token{
		{Secret: o.ViewToken, Role: RoleView, Name: RoleView},
		{Secret: o.AgentToken, Role: RoleAgent, Name: RoleAgent},
	}, o.Tokens...)
	k.fixed.Store(&fixed)
	return k
}

// find returns what a token grants.
func (k *keys) find(secret string) (ws.Grant, bool) {
	g := ws.Guard{Tokens: append(slices.Clone(*k.fixed.Load()), k.own)}
	if grant, ok := g.Match(secret); ok {
		return grant, true
	}
	e, ok := k.store.Find(secret)
	return grantOf(e), ok
}

// byID returns what the token with an id grants, and the SHA-256 of the token in hex, which
// is "" if there is none.
func (k *keys) byID(id string) (ws.Grant, string) {
	for _, t := range *k.fixed.Load() {
		sum := sha256.Sum256([]byte(t.Secret))
		if hash := hex.EncodeToString(sum[:]); ws.TokenID(t.Secret) == id {
			return ws.Grant{Role: t.Role, ClientID: t.ClientID, Token: id, Name: t.Name}, hash
		}
	}
	e, hash := k.store.Entry(id)
	return grantOf(e), hash
}

// valid reports whether a token grants what it did. A connection that the program has
// accepted itself has none.
func (k *keys) valid(id string) bool {
	return id == "" || id == ws.TokenID(k.own.Secret) || k.store.Opens(id) || slices.ContainsFunc(*k.fixed.Load(), func(t ws.Token) bool { return ws.TokenID(t.Secret) == id })
}

// mayUse reports whether a token may use a client id: false if other tokens name it and
// this one does not.
func (k *keys) mayUse(clientID, id string) bool {
	named := false
	for _, t := range *k.fixed.Load() {
		if t.ClientID == clientID {
			if ws.TokenID(t.Secret) == id {
				return true
			}
			named = true
		}
	}
	owners := k.store.Owners(clientID)
	return slices.Contains(owners, id) || !named && len(owners) == 0
}

// base returns the view token and the agent token.
func (k *keys) base() (view, agent string) {
	fixed := *k.fixed.Load()
	return fixed[0].Secret, fixed[1].Secret
}

// replace replaces the view token or the agent token and returns the id of the old one.
func (k *keys) replace(role, secret string) (old string) {
	fixed := slices.Clone(*k.fixed.Load())
	at := slices.Index([]string{RoleView, RoleAgent}, role)
	old = ws.TokenID(fixed[at].Secret)
	fixed[at].Secret = secret
	k.fixed.Store(&fixed)
	return old
}

// enter returns a context that ends with the token, and a function that the request calls
// when it is done.
func (k *keys) enter(ctx context.Context, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active[id] == nil {
		k.active[id] = map[*context.CancelFunc]struct{}{}
	}
	k.active[id][&cancel] = struct{}{}
	if !k.valid(id) {
		cancel() // it ended between the check and now
	}
	return ctx, func() {
		cancel()
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.active[id], &cancel)
		if len(k.active[id]) == 0 {
			delete(k.active, id)
		}
	}
}

// end cancels the requests of a token.
func (k *keys) end(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for cancel := range k.active[id] {
		(*cancel)()
	}
}

// RotateToken replaces the view token or the agent token, whose role it names, and
// returns the new one. [Options.Rotated] has stored it by then. What the old token opened
// is closed.
func (h *Host) RotateToken(role string) (string, error) {
	if role != RoleView && role != RoleAgent {
		return "", fmt.Errorf("host: role %q: only the tokens %q and %q are replaced; revoke others", role, RoleView, RoleAgent)
	}
	h.rotating.Lock()
	defer h.rotating.Unlock()
	secret := token.NewSecret()
	if h.opts.Rotated != nil {
		if err := h.opts.Rotated(role, secret); err != nil {
			return "", fmt.Errorf("host: the new token was not stored: %w", err)
		}
	}
	h.endToken(h.keys.replace(role, secret))
	return secret, nil
}

// RevokeToken revokes a token of Options.AccessTokens by its id. What it opened is closed,
// and what its clients declared leaves their sessions.
func (h *Host) RevokeToken(id string) (token.Entry, error) {
	e, err := h.keys.store.Revoke(id)
	if err != nil {
		return e, fmt.Errorf("host: %w", err)
	}
	h.endToken(id)
	return e, nil
}

// endToken closes what a token opened, which opens nothing any more.
func (h *Host) endToken(id string) {
	h.server.EndToken(id)
	h.keys.end(id)
}

// AccessTokens returns the store of tokens that can be listed, revoked and that expire.
// Revoke with [Host.RevokeToken], which closes their connections.
func (h *Host) AccessTokens() *token.Store { return h.keys.store }
