package client

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Dispatched is an action on its way: sent, and not echoed yet.
type Dispatched struct {
	c       *Client
	seq     int64 // clientSeq
	channel string
	tag     string
	timer   *time.Timer

	done chan struct{} // closed when err is set
	err  error
}

// Dispatch sends an action and waits for its echo. nil means that the host
// accepted it and that the mirror shows what it did; a [*Refused] has the
// host's reason. The time is bounded by Options.Timeout, and then the error is
// [ErrUnanswered]. When ctx is done first, the action may still be applied.
func (c *Client) Dispatch(ctx context.Context, channel string, action ahp.Action) error {
	d, err := c.DispatchAsync(channel, action)
	if err != nil {
		return err
	}
	return d.Wait(ctx)
}

// DispatchAsync sends an action and returns at once. Actions leave in the order
// of the calls. The error is that it was not sent.
func (c *Client) DispatchAsync(channel string, action ahp.Action) (*Dispatched, error) {
	d := &Dispatched{c: c, channel: channel, tag: action.ActionType(), done: make(chan struct{})}
	k := canvas.ChannelKindOf(channel)
	if k == nil {
		return nil, fmt.Errorf("dispatch %s: the client knows no channels of scheme %q", d.tag, ahp.SchemeOf(channel))
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

// send numbers and queues in one step, so that the numbers rise on the wire.
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
		c.settle(d, fmt.Errorf("dispatch %s: %w", d.tag, ErrUnanswered))
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

// Done is closed when Wait no longer waits.
func (d *Dispatched) Done() <-chan struct{} { return d.done }

func (d *Dispatched) isDone() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// echoed settles the dispatch that an envelope answers. It is called under the
// mutex, and so is settle.
func (c *Client) echoed(u update) {
	if u.Origin == nil || u.Origin.ClientID != c.opts.ClientID {
		return
	}
	d := c.dispatched[u.Origin.ClientSeq]
	switch {
	case d == nil || d.channel != u.Channel:
	case u.RejectionReason != "":
		c.settle(d, &Refused{Channel: u.Channel, Type: d.tag, Reason: u.RejectionReason, Seq: u.ServerSeq})
	default:
		c.settle(d, nil)
	}
}

func (c *Client) settle(d *Dispatched, err error) {
	if c.dispatched[d.seq] != d {
		return
	}
	delete(c.dispatched, d.seq)
	d.timer.Stop()
	d.err = err
	close(d.done)
}

// abandon fails what waits for an echo that the connection cannot bring.
func (c *Client) abandon(cause error) {
	for _, d := range c.dispatched {
		c.settle(d, fmt.Errorf("dispatch %s: %w", d.tag, cause))
	}
}
