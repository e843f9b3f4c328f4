package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures a Service.
type Options struct {
	// Log is the log of the host. It is required.
	Log *channels.Log
	// Agent is the only agent of the root channel. The default names this host.
	Agent AgentInfo
	// Now returns the time. The default is time.Now.
	Now func() time.Time
	// MaxSessions limits the number of sessions; default 1,024.
	MaxSessions int
	// Store keeps sessions over a restart. If it is nil, they are not kept.
	Store channels.Store
	// Capabilities returns what a client declared on its newest connection, to be kept
	// with the client. It is called under the log's lock and must not block. It may be
	// nil.
	Capabilities func(clientID string) ahp.Capabilities
	// Token returns the id of the token that a client uses, which is stored with the
	// client: after a restart another token cannot take its place. It is called under the
	// log's lock and must not block. It may be nil.
	Token func(clientID string) string
	// Memory counts what clients keep in sessions; nil counts nothing.
	Memory *budget.Ledger
	// NewID returns an id for a session's records, which must be unique forever. The
	// default is random.
	NewID func() string
	// Logger may be nil.
	Logger *slog.Logger

	// Prepare completes the state of a new session. It is called under the log's lock
	// and must be pure. It may be nil.
	Prepare func(tx *channels.Tx, uri string, s State) State
	// Vet checks the declarations of an active client. It is called without a lock. It
	// may be nil.
	Vet func(c SessionActiveClient) error
	// After is called under the log's lock when an action has changed a session, and
	// may append to it. It may be nil.
	After func(tx *channels.Tx, uri string, before, now State)
	// BeforeDispose closes the canvases of a session before it is removed. It may block.
	// If it fails, the session is not removed. Otherwise after is called in the
	// transaction that removes the session, or with gone false if the removal could not
	// be stored. BeforeDispose may be nil.
	BeforeDispose func(ctx context.Context, uri string) (after func(tx *channels.Tx, gone bool), err error)
}

func (o Options) withDefaults() Options {
	if o.Agent.Provider == "" {
		o.Agent = AgentInfo{Provider: "canvas", DisplayName: "Canvas host", Description: "Opens canvases and shows them on any screen.", Models: []ahp.Value{}}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxSessions = cmp.Or(o.MaxSessions, 1024)
	if o.Store == nil {
		o.Store = channels.NoStore
	}
	if o.Capabilities == nil {
		o.Capabilities = func(string) ahp.Capabilities { return nil }
	}
	if o.Token == nil {
		o.Token = func(string) string { return "" }
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Vet == nil {
		o.Vet = func(SessionActiveClient) error { return nil }
	}
	return o
}
