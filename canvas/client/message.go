package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Message sends a canvas/message, from a View to the canvas's provider or from the
// provider to its Views (the Canvas proposal (#297), section 10). payload is any
// value that encodes to at most 64 KiB of JSON. Message waits for the echo, as
// [Client.Dispatch] does: the host has accepted the message, but the recipient may
// not have read it yet. Watches receive the messages of others as an [EventAction]
// with a canvas.Message.
func (c *Client) Message(ctx context.Context, channel string, payload any) error {
	raw, err := ahp.Marshal(payload)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	return c.Dispatch(ctx, channel, canvas.Message{Payload: raw})
}
