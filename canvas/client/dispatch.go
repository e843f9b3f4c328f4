package client

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Dispatched is an action that was sent and waits for its echo.
type Dispatched struct {
	c       *Client
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
	d := &Dispatched{c: c, channel: channel, tag: action.ActionType(), done: make(chan struct{})}
	k := canvas.ChannelKindOf(channel)
	if k == nil {
		return nil, fmt.Errorf("dispatch %s: channels with the scheme %q are unknown", d.tag, ahp.SchemeOf(channel))
	}
	enc, err := k.Actions.Encode(action)
	if err != nil {
		return nil, fmt.Errorf("dispatch: %w", err)
	}
	if err := c.send(d, enc.Bytes()); err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", d.tag, err)
	}
	return d, nil
}

// send numbers and queues a frame in one step, so that the numbers increase on the
// wire.
func (c *Client) send(d *Dispatched, action ahp.Value) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return err
	}
	if len(c.dispatched) >= c.opts.Dispatches {
		return ErrBusy
	}
	frame, err := peer.Notification(ahp.DispatchAction.Name, ahp.DispatchActionParams{
		Channel: d.channel, ClientSeq: c.clientSeq + 1, Action: action,
	})
	if err != nil {
		return err
	}
	c.clientSeq++
	d.seq = c.clientSeq
	c.dispatched[d.seq] = d
	d.timer = time.AfterFunc(c.opts.Timeout, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finish(d, fmt.Errorf("dispatch %s: %w", d.tag, ErrUnanswered))
	})
	l.peer.Push(frame)
	return nil
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

// echoed finishes the dispatch of which an envelope is the echo or refusal. It is
// called under the mutex, and so are finish and failDispatches.
func (c *Client) echoed(e envelope) {
	if e.Origin == nil || e.Origin.ClientID != c.opts.ClientID {
		return
	}
	d := c.dispatched[e.Origin.ClientSeq]
	switch {
	case d == nil || d.channel != e.Channel:
	case e.RejectionReason != "":
		c.finish(d, &Refused{Channel: e.Channel, Type: d.tag, Reason: e.RejectionReason, Seq: e.ServerSeq})
	default:
		c.finish(d, nil)
	}
}

func (c *Client) finish(d *Dispatched, err error) {
	if c.dispatched[d.seq] != d {
		return
	}
	delete(c.dispatched, d.seq)
	d.timer.Stop()
	d.err = err
	close(d.done)
}

// failDispatches fails the dispatches of a connection that has ended.
func (c *Client) failDispatches(cause error) {
	for _, d := range c.dispatched {
		c.finish(d, fmt.Errorf("dispatch %s: %w", d.tag, cause))
	}
}
