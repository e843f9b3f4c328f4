package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Message sends a canvas/message: from a View to the canvas's provider, or from
// the provider to its Views (#297 section 10). payload is any value that encodes
// to JSON, at most 64 KiB of it. It waits for the echo, as [Client.Dispatch]
// does, which says that the host took it and not that anybody has read it. What
// others say arrives in watches, as an [EventAction] with a canvas.Message.
func (c *Client) Message(ctx context.Context, channel string, payload any) error {
	raw, err := ahp.Marshal(payload)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	return c.Dispatch(ctx, channel, canvas.Message{Payload: raw})
}
