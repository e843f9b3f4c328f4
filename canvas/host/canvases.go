package host

import (
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Canvases registers providers, and opens, invokes and closes canvases as an agent does.
// Its methods may be called concurrently. Their errors are *[canvas.Error] or the
// context's.
type Canvases struct{ engine *engine.Engine }

// Canvases returns the API of the host's canvases.
func (h *Host) Canvases() *Canvases { return &Canvases{h.canvases} }

// Add registers a provider that states its own declarations, such as a
// [canvas.Canvas]. It fails if a declaration is invalid or the extension's id is
// registered already.
func (h *Host) Add(p canvas.Declarer) (canvas.Registration, error) {
	return h.canvases.Register(p.Extension(), p, p.Declarations()...)
}

// Register registers a provider with its declarations. It fails, and registers none, if a
// declaration is invalid or the extension's id is registered already. Stale instances of
// the extension's canvases are opened again.
func (c *Canvases) Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error) {
	return c.engine.Register(ext, p, set...)
}

// List returns what can be opened in a session.
func (c *Canvases) List(uri string) ([]session.SessionCanvasDeclaration, error) {
	return c.engine.List(uri)
}

// ListOpen returns the open canvases of a session, in the order of opening.
func (c *Canvases) ListOpen(session string) ([]canvas.OpenCanvas, error) {
	return c.engine.ListOpen(session)
}

// Open opens a canvas, or opens it again. It is idempotent: the same declaration
// under a live instance id with an absent or equal input is that instance, and the
// provider is not called (canvas/PROTOCOL.md section 3).
func (c *Canvases) Open(ctx context.Context, args canvas.OpenArgs) (canvas.OpenCanvas, error) {
	return c.engine.Open(ctx, args)
}

// Invoke runs an action of an open canvas and returns its value, nil if it has none.
func (c *Canvases) Invoke(ctx context.Context, args canvas.InvokeArgs) (ahp.Value, error) {
	return c.engine.Invoke(ctx, args)
}

// Close closes an open canvas.
func (c *Canvases) Close(ctx context.Context, session, instanceID string) error {
	return c.engine.Close(ctx, session, instanceID)
}

// Events returns the events of a session after a cursor (0 is the beginning). If
// there are none, it waits up to timeout for the first. Events are in memory only.
func (c *Canvases) Events(ctx context.Context, session string, after int64, timeout time.Duration) (canvas.EventPage, error) {
	return c.engine.Events(ctx, session, after, timeout)
}

// Records returns the records that an extension keeps in the host's store; see
// [canvas.Records].
func (c *Canvases) Records(extensionID string) canvas.Records {
	return c.engine.Records(extensionID)
}

// Raise adds an event for a session's agent that belongs to no canvas in particular.
// It is any JSON, at most 64 KiB.
func (c *Canvases) Raise(session string, event ahp.Value) error {
	return c.engine.Raise(session, event)
}
