package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Subscribe follows a channel and returns its state, which the mirror holds from
// then on. Subscribing again asks for a fresh snapshot; it changes nothing in a
// mirror that is newer by the time it comes. Where the host answers that there
// is no such channel, the client follows it no longer.
func (c *Client) Subscribe(ctx context.Context, uri string) (Snapshot, error) {
	l, ch, err := c.ask(uri)
	if err != nil {
		return Snapshot{}, fmt.Errorf("subscribe: %w", err)
	}
	var snap Snapshot
	err = callThen(ctx, l, ahp.Subscribe, ahp.ChannelParams{Channel: uri}, func(result ahp.SubscribeResult) (err error) {
		snap, err = c.answered(l, uri, ch, result.Snapshot)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	ch.asking--
	if err != nil && c.mirror.channels[uri] == ch {
		c.unanswered(l, uri, ch, err)
	}
	return snap, err
}

// ask notes the subscription before it is sent.
func (c *Client) ask(uri string) (*link, *channel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return nil, nil, err
	}
	ch := c.mirror.want(uri)
	ch.asking++
	return l, ch, nil
}

// answered takes the snapshot, in its place among the envelopes.
func (c *Client) answered(l *link, uri string, ch *channel, s *ahp.Snapshot) (Snapshot, error) {
	b := base{Snapshot: ahp.Snapshot{Resource: uri}}
	if s != nil {
		var err error
		if b, err = readSnapshot(*s); err != nil {
			return Snapshot{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case l.broken != nil:
		return Snapshot{}, l.broken
	case c.mirror.channels[uri] != ch:
		l.unsubscribe(uri)
		return Snapshot{}, ErrUnsubscribed
	case !ch.based || b.FromSeq > ch.seq:
		c.publish(c.mirror.install(ch, b))
	}
	return Snapshot{Channel: uri, Seq: ch.seq, State: ch.state}, nil
}

// unanswered undoes a subscription that failed, unless another Subscribe waits
// and will tell.
func (c *Client) unanswered(l *link, uri string, ch *channel, err error) {
	if ch.asking > 0 {
		return
	}
	was := ch.based
	switch {
	case refused(err):
		if ev := c.mirror.drop(uri); was {
			c.publish(ev)
		}
	case !was:
		c.mirror.drop(uri)
		l.unsubscribe(uri) // the host may have done it
	}
}

// Unsubscribe stops following a channel, at once: the mirror forgets it and
// nothing of it is an event any more. It never waits and needs no connection.
func (c *Client) Unsubscribe(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.declared, uri)
	if c.mirror.channels[uri] == nil {
		return
	}
	c.publish(c.mirror.drop(uri))
	if l, err := c.live(); err == nil {
		l.unsubscribe(uri)
	}
}

// State returns what the mirror holds of a channel, and whether it holds it.
func (c *Client) State(uri string) (Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mirror.snapshot(uri)
}
