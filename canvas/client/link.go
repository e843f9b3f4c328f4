package client

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/session"
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
}

// dial opens a socket and starts its reader.
func (c *Client) dial(ctx context.Context) (*link, error) {
	conn, err := ws.Dial(ctx, c.url, c.opts.dial())
	if err != nil {
		return nil, err
	}
	l := &link{c: c, ended: make(chan struct{})}
	l.peer = peer.New(conn, l, c.opts.peer())
	l.peer.Start()
	return l, nil
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
	current := l.current()
	l.c.mu.Unlock()
	if !current {
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s arrived before the result of the handshake", req.Method))
		return
	}
	l.c.provided.handle(req)
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
		err = l.c.apply(e)
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
	if l.current() {
		l.c.publish(Event{Kind: EventNotice, Channel: p.Channel, Type: req.Method, Raw: req.Params, size: len(req.Params)})
	}
}

// current reports whether messages of the link change the mirror: not before its
// handshake, and not after the host broke a rule. It is called under the mutex.
func (l *link) current() bool { return l.c.link == l && l.broken == nil }

// apply applies an envelope to the mirror, then notifies watches, the instance
// that it is for, and the sender of the action. It is called under the mutex, and so
// are publish and fail.
func (c *Client) apply(e envelope) error {
	if err := c.mirror.advance(e.ServerSeq); err != nil {
		return err
	}
	if e.RejectionReason != "" {
		c.publish(actionEvent(EventRefused, e))
		c.echoed(e)
		return nil
	}
	ev, ok, err := c.mirror.apply(e)
	if err != nil {
		return err
	}
	if ok {
		c.publish(ev)
		c.provided.deliver(e)
	}
	c.echoed(e)
	return nil
}

// publish adds an event to the watches. The mirror has changed before.
func (c *Client) publish(ev Event) {
	for w := range c.watches {
		w.push(ev)
	}
	if _, ok := ev.State.(session.State); ok {
		c.provided.catalogChanged(ev.Channel)
	}
}

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
			l.c.mirror.restart(0) // the mirror must not be resumed from
		}
		l.c.failDispatches(l.cause)
	}
	close(l.ended)
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
