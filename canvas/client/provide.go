package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Provide declares canvases to a session, in place of all that this client
// declared there before, and waits for the echo: the host lists them then, and
// asks Options.Provider for them. It subscribes to the session where the client
// has not done so. A bad declaration refuses the whole set (canvas.md
// section 8): the error is a [*Refused] and what was declared before stands.
//
// The declarations last for as long as the client follows the session.
// Reconnect declares them again where the host does not have them any more; a
// refusal of that is an [EventRefused]. [Client.Unsubscribe] takes them back.
func (c *Client) Provide(ctx context.Context, uri, displayName string, set ...canvas.Declaration) error {
	if c.opts.Provider == nil {
		return fmt.Errorf("provide: %w", errors.New("Options.Provider is not set"))
	}
	if _, ok := c.Session(uri); !ok {
		if _, err := c.Subscribe(ctx, uri); err != nil {
			return fmt.Errorf("provide: %w", err)
		}
	}
	entry := &session.SessionActiveClient{
		ClientID: c.opts.ClientID, DisplayName: &displayName,
		Tools: []session.ToolDefinition{}, CanvasProviders: slices.Clone(set),
	}
	// Known before the host knows it: its first canvasOpen may overtake the echo
	// on the way to this goroutine.
	c.mu.Lock()
	before := c.declared[uri]
	c.declared[uri] = entry
	c.mu.Unlock()
	err := c.Dispatch(ctx, uri, session.ActiveClientSet{ActiveClient: *entry})
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.declared[uri] == entry {
		delete(c.declared, uri)
		if before != nil {
			c.declared[uri] = before
		}
	}
	return fmt.Errorf("provide: %w", err)
}

// declares reports whether a session was told of a canvas. It is called under
// the mutex.
func (c *Client) declares(uri, canvasID string) bool {
	entry := c.declared[uri]
	return entry != nil && slices.ContainsFunc(entry.CanvasProviders, func(d canvas.Declaration) bool { return d.CanvasID == canvasID })
}

// declareAgain follows a resume: the host keeps what was declared for the grace
// period, and what it does not have is dispatched once more. The mirror tells.
func (c *Client) declareAgain() {
	c.mu.Lock()
	lacking := map[string]*session.SessionActiveClient{}
	for uri, entry := range c.declared {
		snap, _ := c.mirror.snapshot(uri)
		state, ok := snap.State.(session.State)
		switch {
		case !ok:
			delete(c.declared, uri) // the session is gone, or not followed any more
		case !slices.ContainsFunc(state.ActiveClients, func(a session.SessionActiveClient) bool { return a.ClientID == entry.ClientID }):
			lacking[uri] = entry
		}
	}
	c.mu.Unlock()
	for uri, entry := range lacking {
		if _, err := c.DispatchAsync(uri, session.ActiveClientSet{ActiveClient: *entry}); err != nil {
			c.opts.Logger.Warn("cannot declare again", "err", err)
		}
	}
}
