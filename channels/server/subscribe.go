package server

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// subscribe subscribes the connection, takes the snapshot and queues the answer in
// one transaction (ahp/PROTOCOL.md section 2d).
func subscribe(_ context.Context, c *conn, req *peer.Request) {
	var p ahp.ChannelParams
	if err := decodeParams(ahp.Subscribe.MethodInfo, req.Params, &p); err != nil {
		req.Fail(err)
		return
	}
	err := c.server.log.Update(func(tx *channels.Tx) error {
		snap, err := c.subscribeTo(tx, p.Channel)
		if err != nil {
			return err
		}
		if snap == nil {
			req.Reply(ahp.SubscribeResult{})
		} else {
			replySnapshots(req, []byte(`{"snapshot":`), []*channels.Snapshot{snap}, []byte(`}`))
		}
		c.countSubscriptions(&tx.ReadTx)
		return nil
	})
	if err != nil {
		req.Fail(err)
	}
}

// subscribeTo subscribes the connection to a channel, within the limits.
func (c *conn) subscribeTo(tx *channels.Tx, uri string) (*channels.Snapshot, error) {
	switch again := tx.Subscribed(c.sub, uri); {
	case again:
	case !c.server.memory.Fits(budget.Clients, perSubscription):
		return nil, errMemory
	case tx.SubscriptionCount(c.sub) >= c.server.maxSubs:
		return nil, ahp.Errorf(ahp.CodePermissionDenied, "more than %d subscriptions on one connection", c.server.maxSubs)
	}
	return tx.Subscribe(c.sub, uri)
}

// unsubscribe ends a subscription. No envelope of the channel is delivered after it.
// An unknown channel is ignored.
func unsubscribe(_ context.Context, c *conn, req *peer.Request) {
	var p ahp.ChannelParams
	if decodeParams(ahp.Unsubscribe.MethodInfo, req.Params, &p) != nil {
		c.server.unreadable.Add(1)
		return
	}
	c.unsubscribeFrom(p.Channel)
}

func (c *conn) unsubscribeFrom(uri string) {
	last := c.server.log.Unsubscribe(c.sub, uri)
	c.server.log.View(c.countSubscriptions)
	if last && c.server.presence != nil {
		c.server.presence.ClientLeft(c.sub.ClientID, uri)
	}
}

// dispatch passes a client's action to the log, which publishes, refuses or ignores
// it (ahp/PROTOCOL.md section 2e).
func dispatch(_ context.Context, c *conn, req *peer.Request) {
	var p ahp.DispatchActionParams
	if decodeParams(ahp.DispatchAction.MethodInfo, req.Params, &p) != nil {
		c.server.unreadable.Add(1)
		return
	}
	if limited := req.Limited(); limited != nil {
		if c.server.log.RefuseDispatch(c.sub, p, limited.Message) != nil {
			c.server.unreadable.Add(1)
		}
		return
	}
	if c.server.log.Dispatch(c.sub, p) != nil { // the sequence is exhausted; the host stops
		c.server.unreadable.Add(1)
	}
}
