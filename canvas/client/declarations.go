package client

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// declarations are what a client declares in its sessions.
type declarations struct {
	clientID string
	dispatch func(ctx context.Context, channel string, action ahp.Action) error // waits for the echo
	turn     chan struct{}                                                      // a semaphore for Provide and Withdraw

	mu       *sync.Mutex // the client's; guards what follows
	sessions map[string]*declared
	provides bool // Provide was called
}

func newDeclarations(c *Client) declarations {
	return declarations{
		clientID: c.opts.ClientID, dispatch: c.Dispatch, turn: make(chan struct{}, 1), mu: &c.mu, sessions: map[string]*declared{},
	}
}

// declared is what the client declares in one session. It is replaced, never
// changed.
type declared struct {
	entry     session.SessionActiveClient
	providers map[string]canvas.Provider // by canvas id
}

// without returns the declarations without some canvases.
func (d declared) without(canvasIDs []string) declared {
	listed := func(id string) bool { return slices.Contains(canvasIDs, id) }
	entry := d.entry
	entry.CanvasProviders = slices.DeleteFunc(slices.Clone(entry.CanvasProviders), func(x canvas.Declaration) bool { return listed(x.CanvasID) })
	providers := map[string]canvas.Provider{}
	maps.Copy(providers, d.providers)
	maps.DeleteFunc(providers, func(id string, _ canvas.Provider) bool { return listed(id) })
	return declared{entry, providers}
}

// action returns the action that makes the host's state what is declared.
func (d *declared) action() ahp.Action {
	if len(d.providers) == 0 {
		return session.ActiveClientRemoved{ClientID: d.entry.ClientID}
	}
	return session.ActiveClientSet{ActiveClient: d.entry}
}

// change replaces what the client declares in a session. It waits for the echo, one
// call at a time: if the host refuses, it restores the declarations that the host
// has.
func (s *declarations) change(ctx context.Context, uri string, change func(before declared) declared) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	before := s.sessions[uri]
	if before == nil {
		before = &declared{}
	}
	after := change(*before)
	if len(before.providers)+len(after.providers) == 0 {
		s.mu.Unlock()
		return nil
	}
	after.entry.ClientID, after.entry.Tools = s.clientID, []session.ToolDefinition{}
	// The first canvasOpen can arrive before this goroutine sees the echo.
	s.sessions[uri], s.provides = &after, true
	s.mu.Unlock()
	err := s.dispatch(ctx, uri, after.action())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[uri] != &after {
		return err // unsubscribed meanwhile
	}
	if err != nil {
		s.sessions[uri] = before
	}
	if len(s.sessions[uri].providers) == 0 {
		delete(s.sessions, uri)
	}
	return err
}

// hasProvided reports whether Provide was called: only then are requests of the
// host answered.
func (s *declarations) hasProvided() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.provides
}

// provider returns the provider of a canvas, or nil if it is not declared.
func (s *declarations) provider(uri, canvasID string) canvas.Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.sessions[uri]; d != nil {
		return d.providers[canvasID]
	}
	return nil
}

// dropped returns the actions that declare again, by session, what the host has
// dropped: it keeps declarations only for a grace period. Sessions that are not
// followed are removed. It is called under the client's mutex.
func (s *declarations) dropped(m *mirror) map[string]ahp.Action {
	again := map[string]ahp.Action{}
	for uri, d := range s.sessions {
		snap, _ := m.snapshot(uri)
		state, ok := snap.State.(session.State)
		switch {
		case !ok:
			delete(s.sessions, uri) // the session was disposed, or is no longer followed
		case !slices.ContainsFunc(state.ActiveClients, func(a session.SessionActiveClient) bool { return a.ClientID == d.entry.ClientID }):
			again[uri] = d.action()
		}
	}
	return again
}
