package client

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// link is one connection of a client.
type link struct {
	c    *Client
	peer *peer.Peer
	// ended is closed when the connection has ended and everything that was read
	// has been handled.
	ended chan struct{}

	// Guarded by the client's mutex.
	broken *ProtocolError // the host broke a rule; nothing more is handled
	cause  error          // why the connection ended; nil before that

	holding     bool          // the client moves away: nothing is sent but a ping
	left        bool          // the client has moved away: only requests and answers are handled
	moved       chan struct{} // closed when the host has published everything here; the client has moved
	calls       int           // with takeLink
	unused      chan struct{} // closed when there are no calls; nil if nothing waits for that
	subscribing int           // calls of Subscribe
	subscribed  chan struct{} // closed when there are none; nil if nothing waits for that

	over chan struct{} // closed when all goroutines of a connection have ended that the client moved away from
}

// Handle handles a message of the host. It runs on the reader and does not wait.
func (l *link) Handle(_ context.Context, req *peer.Request) {
	switch {
	case !req.Notification:
		l.handleRequest(req)
	case req.Method == ahp.ActionNotification.Name:
		l.handleAction(req)
	default:
		l.handleNotice(req)
	}
}

func (l *link) handleRequest(req *peer.Request) {
	l.c.mu.Lock()
	current := l.current() || l.left
	l.c.mu.Unlock()
	if !current {
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s arrived before the result of the handshake", req.Method))
		return
	}
	l.c.provided.handle(l, req)
}

func (l *link) handleAction(req *peer.Request) {
	var raw ahp.ActionEnvelope
	var e envelope
	err := req.Decode(&raw)
	if err != nil {
		err = &ProtocolError{Rule: "an envelope must be valid", Err: err}
	} else {
		e, err = decodeEnvelope(raw)
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if !l.current() {
		return
	}
	if err == nil {
		err = l.c.feed.apply(e)
	}
	if err != nil {
		l.fail(err)
	}
}

func (l *link) handleNotice(req *peer.Request) {
	var p struct {
		Channel string `json:"channel,omitzero"`
	}
	_ = req.Decode(&p) // a notification without a channel is valid too
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	switch {
	case !l.current():
	case req.Method == ahp.MethodMove:
		if l.c.opts.Backoff != nil && !l.c.closed {
			l.c.work.Go(func() { l.c.connector.move(l) })
		}
	case req.Method == ahp.Moved.Name:
		if l.holding && !isClosed(l.moved) {
			close(l.moved)
		}
	default:
		l.c.feed.publish(Event{Kind: EventNotice, Channel: p.Channel, Type: req.Method, Raw: req.Params, size: len(req.Params)})
	}
}

// current reports whether messages of the link change the mirror: not before its
// handshake, and not after the host broke a rule. It is called under the mutex.
func (l *link) current() bool { return l.c.link == l && l.broken == nil && !l.left }

// fail closes the connection because the host broke a rule.
func (l *link) fail(err error) {
	pe, ok := err.(*ProtocolError)
	if !ok {
		pe = &ProtocolError{Rule: err.Error()}
	}
	l.broken = pe
	l.peer.Close(ws.CodeProtocol, pe.Rule)
}

// Closed is called after the connection has ended and its last message was
// handled.
func (l *link) Closed(err error) {
	l.c.opts.Logger.Info("connection ended", "err", err)
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.cause = err
	if l.broken != nil {
		l.cause = l.broken
	}
	if l.c.link == l {
		if l.broken != nil {
			l.c.feed.mirror.restart(0) // the mirror must not be resumed from
		}
		l.c.feed.dispatches.failAll(l.cause)
	}
	close(l.ended)
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func (l *link) unsubscribe(uri string) {
	frame, err := peer.Notification(ahp.Unsubscribe.Name, ahp.ChannelParams{Channel: uri})
	if err == nil {
		l.peer.Push(frame)
	}
}

// close ends the connection and waits for its goroutines.
func (l *link) close() {
	l.peer.Close(ws.CodeNormal, "")
	l.peer.Wait()
}
