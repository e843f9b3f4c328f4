package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures a Service. Log is required.
type Options struct {
	Log *channels.Log
	// Agent is the one entry of the root channel; a zero one names this host.
	Agent AgentInfo
	Now   func() time.Time // default time.Now
	// MaxSessions is how many sessions there may be at once; default 1,024.
	MaxSessions int
	// Store keeps sessions over a restart; nil keeps none.
	Store channels.Store
	// Capabilities is what a client declared when it connected last; it is kept with
	// the client. It is called under the log's lock and must not wait. Nil knows
	// nothing of anybody.
	Capabilities func(clientID string) ahp.Capabilities
	// NewID names a session's records: unique for ever. The default is random.
	NewID  func() string
	Logger *slog.Logger

	// Prepare completes the state of a session before anybody sees it; it runs
	// under the log's lock and must be pure. Nil changes nothing.
	Prepare func(tx *channels.Tx, uri string, s State) State
	// Vet holds an active client's declaration against the rules of whoever uses
	// it, without a lock. Nil lets everything through.
	Vet func(c SessionActiveClient) error
	// After runs under the log's lock when an action changed a session, and may
	// append to it. Nil does nothing.
	After func(tx *channels.Tx, uri string, before, now State)
	// BeforeDispose ends what lives in a session before it is removed, and may
	// wait. Where it fails the session stays; else after is called, in the
	// transaction that removes the session, or where its end could not be kept with
	// gone false: it stays after all. Nil does nothing.
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
