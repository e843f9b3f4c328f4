package server

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// conn is one connection. It connects a peer with a subscriber of the log.
type conn struct {
	server *Server
	id     channels.ConnID
	grant  ws.Grant
	rights *access.Rights // of the grant's role
	peer   *peer.Peer

	waiting pending // messages that are being handled
	moving  moving

	tokenEnded atomic.Bool // the token ended: the client leaves without a grace period
	answered   atomic.Bool // the answer to the handshake is queued
	replaced   bool        // a newer connection took over the client; guarded by the table of clients
	counted    int32       // subscriptions that the account counts; guarded by the log's mutex

	// opening is nil after the handshake, to free its memory.
	opening *opening

	// sub is set by the handshake, in the goroutine that handles requests. Closed runs
	// after the last request.
	sub *channels.Subscriber

	spoken *spoken // nil for the server's own version

	then func() // called when the connection has ended; nil is nothing

	account   *budget.Account
	throttled atomic.Pointer[throttled]
}

// perSubscription is about what a subscription takes, in bytes.
const perSubscription = 160

var errMemory = ahp.Errorf(ahp.CodePermissionDenied, "%s", budget.ErrFull)

// countSubscriptions counts the connection's subscriptions in its account.
func (c *conn) countSubscriptions(tx *channels.ReadTx) {
	n := tx.SubscriptionCount(c.sub)
	c.account.Add(budget.Clients, int64(n-int(c.counted))*perSubscription)
	c.counted = int32(n) // at most 4,096
}

// tokenName names the token of a connection in the budget and in the rates. People who come
// through a relay have none, but names.
func tokenName(g ws.Grant) string {
	if g.Token != "" {
		return g.Token
	}
	return g.Role + "/" + g.ClientID + "/" + g.Name
}

// CloseHolder implements [budget.Holder].
func (c *conn) CloseHolder(reason string) { c.peer.Abort(ws.CodeTryLater, reason) }

// Deliver queues an envelope for the connection.
func (c *conn) Deliver(f *channels.Frame) { c.peer.Push(f) }

// DeliverAll queues several envelopes for the connection.
func (c *conn) DeliverAll(b *channels.Batch) { c.peer.PushShared(b) }

// Handle handles the connection's messages, one at a time. It increments the count
// before it checks whether the host is closing, so that Close waits for every message
// that passes the check.
func (c *conn) Handle(ctx context.Context, req *peer.Request) {
	c.waiting.add()
	defer c.handled()
	defer c.handledDispatch(req.Method)
	if !c.prove(req) {
		return
	}
	if c.server.dialects != nil && (c.spoken != nil || c.sub == nil) && !c.translate(req) {
		return
	}
	m, known := c.server.methods[req.Method]
	switch {
	case !known:
		req.Fail(ahp.Errorf(ahp.CodeMethodNotFound, "no such method: %s", printable(req.Method)))
	case m.Info.Notification != req.Notification:
		c.mismatched(m, req)
	case c.sub == nil && !opensConnection(m.Info.Name):
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s before the handshake: send initialize or reconnect first", m.Info.Name))
	case c.rights.Of(m.Info.Name) == access.Denied:
		err := c.rights.Deny(m.Info.Name)
		c.record(m.Info.Name, "", err)
		req.Fail(err)
	case c.server.closed.Load():
		req.Fail(ahp.Errorf(ahp.CodeInternal, shuttingDown))
	case m.Order != InOrder:
		c.detach(m, req)
	default:
		m.call(ctx, c, req)
		if m.Info.Name == ahp.Ping.Name {
			c.pinged()
		}
	}
}

// handled ends the handling of a message.
func (c *conn) handled() {
	c.waiting.done()
	if c.moving.left.Load() {
		c.moving.note(c, func(*moving) {})
	}
}

// detach runs a request outside the order of the connection.
func (c *conn) detach(m Method, req *peer.Request) {
	c.waiting.add()
	run := func(ctx context.Context) {
		defer c.handled()
		m.call(ctx, c, req)
	}
	if m.Order == Content {
		req.GoContent(run)
	} else {
		req.Go(run)
	}
}

// shutdown waits for the answers in progress, at most until ctx ends, and closes the
// connection.
func (c *conn) shutdown(ctx context.Context) {
	select {
	case <-c.waiting.none():
	case <-ctx.Done():
	case <-c.peer.Done():
	}
	c.peer.Close(ws.CodeGoingAway, shuttingDown)
	c.peer.Wait()
}

// mismatched refuses a notification that was sent as a request. A request that was
// sent as a notification cannot be answered.
func (c *conn) mismatched(m Method, req *peer.Request) {
	if m.Info.Notification {
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s is a notification: send it without an id", m.Info.Name))
	}
}

// Closed is called once, when the connection has ended and its last handler has
// returned. The server's Close waits for it.
func (c *conn) Closed(err error) {
	s := c.server
	if c.moving.left.Load() {
		c.moving.note(c, func(m *moving) { m.late.Stop() })
	}
	if ws.CodeOf(err) == ws.CodeSlow {
		s.slow.Add(1)
	}
	defer s.ended(c)
	defer c.account.Close()
	if c.sub == nil {
		c.opening.timer.Stop()
		return
	}
	mark := s.log.Leave(c.sub)
	c.account.Give(budget.Clients, int64(c.counted)*perSubscription)
	gone := s.clients.left(c, mark)
	s.report(c.sub.ClientID)
	if gone {
		s.clients.onGone(c.sub.ClientID)
	}
}

// neverOpened closes a connection whose handshake did not come in time.
func (c *conn) neverOpened() {
	c.peer.Close(ws.CodePolicy, "neither initialize nor reconnect in time")
}

// printable returns the beginning of a client's text, for an error message.
func printable(s string) string {
	const limit = 64
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…" // the cut might split a character
	}
	return s
}
