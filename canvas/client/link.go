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
	// ended is closed when the connection is over and everything that was read
	// has been taken.
	ended chan struct{}

	// Guarded by the client's mutex.
	broken *ProtocolError // the host broke a rule; nothing more is taken
	cause  error          // why the connection ended; nil while it lives
}

// dial opens a socket and starts to read it.
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

// Handle takes what the host says, on the reader.
func (l *link) Handle(_ context.Context, req *peer.Request) {
	switch {
	case !req.Notification:
		l.asked(req)
	case req.Method == ahp.ActionNotification.Name:
		l.take(req)
	default:
		l.notice(req)
	}
}

// asked takes a request. Before the handshake nothing is known that could be
// asked for.
func (l *link) asked(req *peer.Request) {
	l.c.mu.Lock()
	current := l.current()
	l.c.mu.Unlock()
	if !current {
		req.Fail(ahp.Errorf(ahp.CodeInvalidRequest, "%s before the answer to the handshake", req.Method))
		return
	}
	l.c.provided.handle(req)
}

func (l *link) take(req *peer.Request) {
	var e ahp.ActionEnvelope
	var u update
	err := req.Decode(&e)
	if err != nil {
		err = &ProtocolError{Rule: "an envelope can be read", Err: err}
	} else {
		u, err = readEnvelope(e)
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if !l.current() {
		return
	}
	if err == nil {
		err = l.c.take(u)
	}
	if err != nil {
		l.breakOff(err)
	}
}

func (l *link) notice(req *peer.Request) {
	var p struct {
		Channel string `json:"channel,omitzero"`
	}
	_ = req.Decode(&p) // a notice without a channel is still one
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if l.current() {
		l.c.publish(Event{Kind: EventNotice, Channel: p.Channel, Type: req.Method, Raw: req.Params, size: len(req.Params)})
	}
}

// current reports whether what the link brings belongs into the mirror: not
// where its handshake failed, or the host broke a rule. It is called under the
// mutex.
func (l *link) current() bool { return l.c.link == l && l.broken == nil }

// take brings an envelope into the mirror, tells the watches, and then whoever
// dispatched it. It is called under the mutex.
func (c *Client) take(u update) error {
	if err := c.mirror.advance(u.ServerSeq); err != nil {
		return err
	}
	if u.RejectionReason != "" {
		c.publish(actionEvent(EventRefused, u))
		c.echoed(u)
		return nil
	}
	ev, ok, err := c.mirror.apply(u)
	if err != nil {
		return err
	}
	if ok {
		c.publish(ev)
		c.provided.deliver(u)
	}
	c.echoed(u)
	return nil
}

// publish adds an event to the watches. It is called under the mutex, after the
// mirror has changed.
func (c *Client) publish(ev Event) {
	for w := range c.watches {
		w.push(ev)
	}
	if _, ok := ev.State.(session.State); ok {
		c.provided.catalogChanged(ev.Channel)
	}
}

// breakOff ends the connection because the host broke a rule. It is called
// under the mutex.
func (l *link) breakOff(err error) {
	pe, ok := err.(*ProtocolError)
	if !ok {
		pe = &ProtocolError{Rule: err.Error()}
	}
	l.broken = pe
	l.peer.Close(ws.CodeProtocol, pe.Rule)
}

// Closed is called when the connection is over, after its last message.
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
			l.c.mirror.restart(0) // what the mirror holds is no base for a replay
		}
		l.c.abandon(l.cause)
	}
	close(l.ended)
}

func (l *link) unsubscribe(uri string) {
	frame, err := peer.Notification(ahp.Unsubscribe.Name, ahp.ChannelParams{Channel: uri})
	if err == nil {
		l.peer.Push(frame)
	}
}

// close ends the connection and waits for all of it.
func (l *link) close() {
	l.peer.Close(ws.CodeNormal, "")
	l.peer.Wait()
}
