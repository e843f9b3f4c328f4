package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Subscribe follows a channel and returns its state, which is then in the mirror.
// Subscribing again requests a new snapshot, which is ignored if the mirror is newer
// when it arrives. If the host answers that the channel does not exist, the client
// no longer follows it.
func (c *Client) Subscribe(ctx context.Context, uri string) (Snapshot, error) {
	l, ch, err := c.beginSubscribe(uri)
	if err != nil {
		return Snapshot{}, fmt.Errorf("subscribe: %w", err)
	}
	var snap Snapshot
	err = callThen(ctx, l, ahp.Subscribe, ahp.ChannelParams{Channel: uri}, func(result ahp.SubscribeResult) (err error) {
		snap, err = c.subscribed(l, uri, ch, result.Snapshot)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	ch.pending--
	if err != nil && c.mirror.channels[uri] == ch {
		c.subscribeFailed(l, uri, ch, err)
	}
	return snap, err
}

// beginSubscribe records the subscription before it is sent.
func (c *Client) beginSubscribe(uri string) (*link, *channel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return nil, nil, err
	}
	ch := c.mirror.add(uri)
	ch.pending++
	return l, ch, nil
}

// subscribed installs the snapshot. The reader calls it in the order of the
// envelopes.
func (c *Client) subscribed(l *link, uri string, ch *channel, raw *ahp.Snapshot) (Snapshot, error) {
	s := decodedSnapshot{Snapshot: ahp.Snapshot{Resource: uri}}
	if raw != nil {
		var err error
		if s, err = decodeSnapshot(*raw); err != nil {
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
	case !ch.confirmed || s.FromSeq > ch.seq:
		c.publish(c.mirror.install(ch, s))
	}
	return Snapshot{Channel: uri, Seq: ch.seq, State: ch.state}, nil
}

// subscribeFailed undoes a subscription that failed, unless another Subscribe is
// pending, which then decides.
func (c *Client) subscribeFailed(l *link, uri string, ch *channel, err error) {
	if ch.pending > 0 {
		return
	}
	was := ch.confirmed
	switch {
	case refused(err):
		if ev := c.mirror.drop(uri); was {
			c.publish(ev)
		}
	case !was:
		c.mirror.drop(uri)
		l.unsubscribe(uri) // the host may have subscribed the client
	}
}

// Unsubscribe stops following a channel: the mirror drops it at once, and watches
// receive no more of its events. It never waits and needs no connection. For a
// session, it also withdraws what [Client.Provide] declared there.
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

// State returns the mirror's state of a channel, and whether the client follows it
// and knows its kind.
func (c *Client) State(uri string) (Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mirror.snapshot(uri)
}
