package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

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
	err := c.declarations.change(ctx, sessionURI, func(before declared) declared {
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
	err := c.declarations.change(ctx, sessionURI, func(before declared) declared {
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
