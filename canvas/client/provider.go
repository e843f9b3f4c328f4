package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Provider opens the canvases that the client declares with [Client.Provide]
// (#297 section 5). It is what canvas.Provider is to a host, and instances are
// the same: a canvas.Instance, which may also be a canvas.Reader to serve
// ahp-canvas-content: URIs to whoever renders it elsewhere. A canvas.App is
// both. (A canvas.Messenger is not called: what Views say is an event of a
// [Watch], once the client is subscribed to the channel.)
//
// The requests of one instance come one at a time, in the host's order; those
// of different instances side by side. Open of an instance that is open, for
// another input or because the connection was lost, has it as
// OpenRequest.Current, and may return it again; what it returns instead
// replaces it, and the old one is not closed. OpenRequest.Saved is nil.
//
// ctx ends with the connection and after Options.Timeout; then nobody wants the
// answer, and everything else waits until the call returns. An error of type
// *[canvas.Error] reaches the agent with its code, any other as
// canvas_handler_error with its text. Provider and Instance may use the client,
// but not call its Close or Reconnect, which wait for them.
type Provider interface {
	Open(ctx context.Context, req canvas.OpenRequest, h *Handle) (canvas.Opened, error)
}

// ProviderFunc is a function as a Provider.
type ProviderFunc func(ctx context.Context, req canvas.OpenRequest, h *Handle) (canvas.Opened, error)

// Open calls f.
func (f ProviderFunc) Open(ctx context.Context, req canvas.OpenRequest, h *Handle) (canvas.Opened, error) {
	return f(ctx, req, h)
}

// Handle is what a provider changes its canvas with. It is good for as long as
// the instance is open, over all connections.
type Handle struct {
	c   *Client
	key instanceKey
}

// ContentURL is the address of content that the instance serves as a
// canvas.Reader; see [canvas.ContentURL].
func (h *Handle) ContentURL(path string) string { return canvas.ContentURL(h.key.instance, path) }

// Channel returns the URI of the canvas's channel. The host says it in the
// session's state once Open has been answered; until then, and when the canvas
// is closed, the error is [ErrNotOpen].
func (h *Handle) Channel() (string, error) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if row := h.c.openRow(h.key); row != nil {
		return row.Channel, nil
	}
	return "", ErrNotOpen
}

// Update changes title, status and url, and waits for the echo as
// [Client.Dispatch] does. It subscribes to the channel where the client has not
// done so: who is not subscribed may not dispatch. A stale canvas is refused,
// until the host has opened it again.
func (h *Handle) Update(ctx context.Context, u canvas.Update) error {
	channel, err := h.subscribed(ctx)
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	return h.c.Dispatch(ctx, channel, canvas.Updated{Title: u.Title, Status: u.Status, URL: u.URL})
}

// Post sends a message to all Views; see [Client.Message].
func (h *Handle) Post(ctx context.Context, payload any) error {
	channel, err := h.subscribed(ctx)
	if err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return h.c.Message(ctx, channel, payload)
}

func (h *Handle) subscribed(ctx context.Context) (string, error) {
	channel, err := h.Channel()
	if err != nil {
		return "", err
	}
	if _, ok := h.c.Canvas(channel); !ok {
		_, err = h.c.Subscribe(ctx, channel)
	}
	return channel, err
}

// openRow returns what the mirror's catalogue has of one of our instances. It
// is called under the mutex.
func (c *Client) openRow(key instanceKey) *session.OpenCanvasRef {
	snap, _ := c.mirror.snapshot(key.session)
	state, _ := snap.State.(session.State)
	for i, row := range state.OpenCanvases {
		if row.InstanceID == key.instance && row.ExtensionID == "client:"+c.opts.ClientID {
			return &state.OpenCanvases[i]
		}
	}
	return nil
}
