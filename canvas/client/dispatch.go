package client

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Dispatched is an action that was sent and waits for its echo.
type Dispatched struct {
	seq     int64 // clientSeq
	channel string
	tag     string
	timer   *time.Timer

	done chan struct{} // closed when err is set
	err  error
}

// Dispatch sends an action and waits for its echo. If it returns nil, the host has
// accepted the action and the mirror contains its effect; a [*Refused] has the
// host's reason. After Options.Timeout the error is [ErrUnanswered]. If ctx is done
// first, the host can still apply the action.
func (c *Client) Dispatch(ctx context.Context, channel string, action ahp.Action) error {
	d, err := c.DispatchAsync(channel, action)
	if err != nil {
		return err
	}
	return d.Wait(ctx)
}

// DispatchAsync sends an action and returns at once. Actions are sent in the order
// of the calls. On an error, the action was not sent.
func (c *Client) DispatchAsync(channel string, action ahp.Action) (*Dispatched, error) {
	d := &Dispatched{channel: channel, tag: action.ActionType(), done: make(chan struct{})}
	k := canvas.ChannelKindOf(channel)
	if k == nil {
		return nil, fmt.Errorf("dispatch %s: channels with the scheme %q are unknown", d.tag, ahp.SchemeOf(channel))
	}
	enc, err := k.Actions.Encode(action)
	if err != nil {
		return nil, fmt.Errorf("dispatch: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.live()
	if err == nil {
		err = c.feed.dispatches.send(l, d, enc.Bytes())
	}
	if err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", d.tag, err)
	}
	return d, nil
}

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

// Wait waits for the echo; see [Client.Dispatch] for the error.
func (d *Dispatched) Wait(ctx context.Context) error {
	select {
	case <-d.done:
		return d.err
	default:
	}
	select {
	case <-d.done:
		return d.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done returns a channel that is closed when Wait no longer blocks.
func (d *Dispatched) Done() <-chan struct{} { return d.done }

func (d *Dispatched) isDone() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}
