package server

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// conn is one connection: a peer on one side, a subscriber of the log on the
// other.
type conn struct {
	server      *Server
	id          channels.ConnID
	tokenClient string
	peer        *peer.Peer

	waiting pending // messages that were taken up and are not done with

	// opening ends a connection that nobody opens; nil once it is open: what waits
	// for years keeps no timer.
	opening *time.Timer

	// sub is set once, by the handshake, on the connection's own runner; the
	// end of the connection comes after its last request.
	sub *channels.Subscriber

	answered atomic.Bool // the handshake's answer is queued
}

// Deliver hands an envelope to the connection's queue.
func (c *conn) Deliver(f *channels.Frame) { c.peer.Push(f) }

// DeliverAll hands several envelopes to the connection's queue.
func (c *conn) DeliverAll(b *channels.Batch) { c.peer.PushShared(b) }

// Handle takes the connection's messages one at a time. It counts before it looks
// whether the host is closing: what goes on after that is waited for.
func (c *conn) Handle(ctx context.Context, req *peer.Request) {
	c.waiting.add()
	defer c.waiting.done()
	m, known := c.server.methods[req.Method]
	switch {
	case !known:
		req.Fail(ahp.Errorf(ahp.CodeMethodNotFound, "no such method: %s", printable(req.Method)))
	case m.Info.Notification != req.Notification:
		c.mismatched(m, req)
	case c.sub == nil && !opensConnection(m.Info.Name):
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s before the handshake: send initialize or reconnect first", m.Info.Name))
	case c.server.closed.Load():
		req.Fail(ahp.Errorf(ahp.CodeInternal, shuttingDown))
	case m.Waits != Never:
		c.leaveOrder(m, req)
	default:
		m.call(ctx, c, req)
	}
}

// leaveOrder runs a request that may have to wait for somebody.
func (c *conn) leaveOrder(m Method, req *peer.Request) {
	c.waiting.add()
	run := func(ctx context.Context) {
		defer c.waiting.done()
		m.call(ctx, c, req)
	}
	if m.Waits == ForContent {
		req.GoContent(run)
	} else {
		req.Go(run)
	}
}

// shutdown answers what is under way and closes; ctx bounds it.
func (c *conn) shutdown(ctx context.Context) {
	select {
	case <-c.waiting.none():
	case <-ctx.Done():
	case <-c.peer.Done():
	}
	c.peer.Close(ws.CodeGoingAway, shuttingDown)
	c.peer.Wait()
}

// mismatched answers a notification that was sent as a request; a request that
// was sent as a notification has nobody to answer to.
func (c *conn) mismatched(m Method, req *peer.Request) {
	if m.Info.Notification {
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s is a notification: send it without an id", m.Info.Name))
	}
}

// Closed runs once, when the connection is over and its last handler returned. The
// server's Close waits for it.
func (c *conn) Closed(error) {
	s := c.server
	defer s.ended(c)
	if c.sub == nil {
		c.opening.Stop()
		return
	}
	s.clients.left(c, s.log.Leave(c.sub))
	s.tell(c.sub.ClientID)
}

// neverOpened ends a connection whose handshake did not come.
func (c *conn) neverOpened() {
	c.peer.Close(ws.CodePolicy, "neither initialize nor reconnect in time")
}

// printable bounds what of a stranger's text goes into an answer.
func printable(s string) string {
	const limit = 64
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…" // the cut may be inside a letter
	}
	return s
}
