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
	sub, err := c.beginSubscribe(ctx, uri)
	if err != nil {
		return Snapshot{}, fmt.Errorf("subscribe: %w", err)
	}
	var snap Snapshot
	err = callThen(ctx, sub.link, ahp.Subscribe, ahp.ChannelParams{Channel: uri}, func(result ahp.SubscribeResult) (err error) {
		snap, err = sub.confirmed(result.Snapshot)
		return err
	})
	sub.end(err)
	return snap, err
}

// subscription is a call of Subscribe in flight.
type subscription struct {
	c    *Client
	link *link
	uri  string
	ch   *channel
}

// beginSubscribe records a subscription before it is sent.
func (c *Client) beginSubscribe(ctx context.Context, uri string) (*subscription, error) {
	if err := c.unheld(ctx); err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return nil, err
	}
	ch := c.feed.mirror.add(uri)
	ch.pending++
	l.calls++
	l.subscribing++
	return &subscription{c, l, uri, ch}, nil
}

// isFollowed reports whether the client still follows the channel: not after an
// Unsubscribe. It is called under the client's mutex.
func (s *subscription) isFollowed() bool { return s.c.feed.mirror.channels[s.uri] == s.ch }

// confirmed installs the snapshot. The reader calls it in the order of the
// envelopes.
func (s *subscription) confirmed(raw *ahp.Snapshot) (Snapshot, error) {
	decoded := decodedSnapshot{Snapshot: ahp.Snapshot{Resource: s.uri}}
	if raw != nil {
		var err error
		if decoded, err = decodeSnapshot(*raw); err != nil {
			return Snapshot{}, err
		}
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	switch {
	case s.link.broken != nil:
		return Snapshot{}, s.link.broken
	case !s.isFollowed():
		s.link.unsubscribe(s.uri)
		return Snapshot{}, ErrUnsubscribed
	case !s.ch.confirmed || decoded.FromSeq > s.ch.seq:
		s.c.feed.publish(s.c.feed.mirror.install(s.ch, decoded))
	}
	return Snapshot{Channel: s.uri, Seq: s.ch.seq, State: s.ch.state}, nil
}

// end undoes the subscription if it failed, unless another Subscribe is pending,
// which then decides.
func (s *subscription) end(err error) {
	defer s.c.giveLink(s.link)
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.link.subscribing--; s.link.subscribing == 0 && s.link.subscribed != nil {
		close(s.link.subscribed)
		s.link.subscribed = nil
	}
	s.ch.pending--
	if err == nil || !s.isFollowed() || s.ch.pending > 0 {
		return
	}
	was := s.ch.confirmed
	switch {
	case refused(err):
		if ev := s.c.feed.mirror.drop(s.uri); was {
			s.c.feed.publish(ev)
		}
	case !was:
		s.c.feed.mirror.drop(s.uri)
		s.link.unsubscribe(s.uri) // the host may have subscribed the client
	}
}

// Unsubscribe stops following a channel: the mirror drops it at once, and watches
// receive no more of its events. It never waits and needs no connection. For a
// session, it also withdraws what [Client.Provide] declared there.
func (c *Client) Unsubscribe(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.declarations.sessions, uri)
	if c.feed.mirror.channels[uri] == nil {
		return
	}
	c.feed.publish(c.feed.mirror.drop(uri))
	if l, err := c.live(); err == nil {
		l.unsubscribe(uri)
	}
}

// State returns the mirror's state of a channel, and whether the client follows it
// and knows its kind.
func (c *Client) State(uri string) (Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.feed.mirror.snapshot(uri)
}
