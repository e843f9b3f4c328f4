package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// declared is what the client declares in one session. It is replaced, never
// changed.
type declared struct {
	entry     session.SessionActiveClient
	providers map[string]canvas.Provider // by canvas id
}

// Provide declares canvases in a session and waits for the echo: the host lists
// them then, and p opens them. The same provider can be registered in a host. If set
// is empty, Provide declares what a [canvas.Declarer] states. It subscribes to the
// session unless the client is subscribed already.
//
// A client can provide in several sessions, and with several providers in one. A
// canvas id that the client has declared in the session before is declared again,
// with p; the other declarations stay. displayName names the client in the
// session; the last call decides.
//
// A host refuses the whole set for one bad declaration (canvas/PROTOCOL.md
// section 8). The error is then a [*Refused], and what was declared before stays.
//
// The declarations last while the client follows the session. Reconnect declares
// them again if the host no longer has them; if the host refuses that, watches
// receive an [EventRefused]. [Client.Withdraw] and [Client.Unsubscribe] withdraw
// them.
func (c *Client) Provide(ctx context.Context, sessionURI, displayName string, p canvas.Provider, set ...canvas.Declaration) error {
	if p == nil {
		return errors.New("provide: the provider is nil")
	}
	if d, ok := p.(canvas.Declarer); ok && len(set) == 0 {
		set = d.Declarations()
	}
	if len(set) == 0 {
		return errors.New("provide: no canvas is declared; use Withdraw to withdraw declarations")
	}
	if _, ok := c.Session(sessionURI); !ok {
		if _, err := c.Subscribe(ctx, sessionURI); err != nil {
			return fmt.Errorf("provide: %w", err)
		}
	}
	err := c.declare(ctx, sessionURI, func(before declared) declared {
		ids := make([]string, len(set))
		for n, d := range set {
			ids[n] = d.CanvasID
		}
		d := before.without(ids)
		d.entry.DisplayName = &displayName
		d.entry.CanvasProviders = append(d.entry.CanvasProviders, set...)
		for _, id := range ids {
			d.providers[id] = p
		}
		return d
	})
	if err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	return nil
}

// Withdraw withdraws declarations in a session, by canvas id, or all of them if
// none is named, and waits for the echo. Open instances of the canvases become
// stale.
func (c *Client) Withdraw(ctx context.Context, sessionURI string, canvasIDs ...string) error {
	err := c.declare(ctx, sessionURI, func(before declared) declared {
		if len(canvasIDs) == 0 {
			return declared{}
		}
		return before.without(canvasIDs)
	})
	if err != nil {
		return fmt.Errorf("withdraw: %w", err)
	}
	return nil
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

// declare replaces what the client declares in a session. One call at a time
// waits for its echo, so that a refusal restores what the host has.
func (c *Client) declare(ctx context.Context, uri string, change func(before declared) declared) error {
	select {
	case c.declaring <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.declaring }()
	c.mu.Lock()
	before := c.declared[uri]
	if before == nil {
		before = &declared{}
	}
	after := change(*before)
	if len(before.providers)+len(after.providers) == 0 {
		c.mu.Unlock()
		return nil
	}
	after.entry.ClientID, after.entry.Tools = c.opts.ClientID, []session.ToolDefinition{}
	// The first canvasOpen can arrive before this goroutine sees the echo.
	c.declared[uri], c.provides = &after, true
	c.mu.Unlock()
	err := c.Dispatch(ctx, uri, after.action())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.declared[uri] != &after {
		return err // unsubscribed meanwhile
	}
	if err != nil {
		c.declared[uri] = before
	}
	if len(c.declared[uri].providers) == 0 {
		delete(c.declared, uri)
	}
	return err
}

// action returns the action that makes the host's state what is declared.
func (d *declared) action() ahp.Action {
	if len(d.providers) == 0 {
		return session.ActiveClientRemoved{ClientID: d.entry.ClientID}
	}
	return session.ActiveClientSet{ActiveClient: d.entry}
}

// provider returns the provider of a canvas, or nil if it is not declared.
func (c *Client) provider(uri, canvasID string) canvas.Provider {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.declared[uri]; d != nil {
		return d.providers[canvasID]
	}
	return nil
}

// declareAgain follows a resume. A host keeps declarations for a grace period; the
// mirror shows which of them it has dropped, and those are dispatched again.
func (c *Client) declareAgain() {
	c.mu.Lock()
	missing := map[string]ahp.Action{}
	for uri, d := range c.declared {
		snap, _ := c.mirror.snapshot(uri)
		state, ok := snap.State.(session.State)
		switch {
		case !ok:
			delete(c.declared, uri) // the session was disposed, or is no longer followed
		case !slices.ContainsFunc(state.ActiveClients, func(a session.SessionActiveClient) bool { return a.ClientID == d.entry.ClientID }):
			missing[uri] = d.action()
		}
	}
	c.mu.Unlock()
	for uri, action := range missing {
		if _, err := c.DispatchAsync(uri, action); err != nil {
			c.opts.Logger.Warn("cannot declare canvases again", "err", err)
		}
	}
}
