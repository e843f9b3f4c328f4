package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Reconnect opens a new connection and resumes on it; it ends the current one
// first. If the host refuses to resume, it sends initialize on the same socket with
// the same subscriptions. After Reconnect has returned nil, the mirror equals the
// host's state, and watches have received the difference. After an error there is
// no connection, and the mirror is unchanged; Reconnect may be called again.
//
// Concurrent calls run one after the other, each with its own connection.
func (c *Client) Reconnect(ctx context.Context) error { return c.connector.resume(ctx, false) }

// connector opens the connections of a client, one at a time.
type connector struct {
	c    *Client
	url  string
	turn chan struct{} // a semaphore for Reconnect and Close
}

func newConnector(c *Client, url string) connector {
	return connector{c: c, url: url, turn: make(chan struct{}, 1)}
}

// resume implements Reconnect. With onlyIfLost, it keeps a connection that another
// call has opened.
func (k *connector) resume(ctx context.Context, onlyIfLost bool) error {
	c := k.c
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("reconnect: %w", k.closedOr(ctx.Err()))
	}
	defer func() { <-k.turn }()
	if c.ctx.Err() != nil {
		return fmt.Errorf("reconnect: %w", ErrClosed)
	}
	c.mu.Lock()
	l := c.link
	_, lost := c.live()
	c.mu.Unlock()
	if onlyIfLost && lost == nil {
		return nil
	}
	l.close()
	c.mu.Lock()
	uris := c.feed.mirror.followed()
	c.mu.Unlock()
	if err := k.connect(ctx, uris); err != nil {
		if ctx.Err() != nil {
			err = k.closedOr(ctx.Err())
		}
		return fmt.Errorf("reconnect: %w", err)
	}
	return nil
}

// closedOr returns ErrClosed after Close, else err.
func (k *connector) closedOr(err error) error {
	if k.c.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

// connect dials and does the handshake. Its caller has the turn, or is Dial.
func (k *connector) connect(ctx context.Context, uris []string) error {
	k.c.provided.resetQueues()
	l, err := k.dial(ctx)
	if err != nil {
		return err
	}
	h := handshake{c: k.c, link: l, uris: uris}
	if err = h.run(ctx); err != nil {
		l.close()
	}
	return err
}

// dial opens a socket and starts its reader.
func (k *connector) dial(ctx context.Context) (*link, error) {
	opts := k.c.opts.dial()
	opts.Subprotocols = ws.Opened(k.c.opened)
	conn, err := ws.Dial(ctx, k.url, opts)
	if err != nil {
		return nil, err
	}
	if id := k.c.opts.Seal; id != nil {
		if err := id.Dial(ctx, conn); err != nil {
			conn.Wait()
			return nil, fmt.Errorf("seal: %w", err)
		}
	}
	l := &link{c: k.c, ended: make(chan struct{}), moved: make(chan struct{}), over: make(chan struct{})}
	l.peer = peer.New(conn, l, k.c.opts.peer())
	l.peer.Start()
	return l, nil
}

// errCannotMove: nothing can be resumed, so that a new connection would not have the old state.
var errCannotMove = errors.New("the client has received no state yet")

// moveTime limits each step of a move, during which nothing is sent.
const moveTime = 10 * time.Second

// move moves the client from a connection that is about to end to another one. It opens that
// first. Then nothing is sent for two round trips: the client waits until the host has handled
// what was sent, and resumes on the new connection. It handles what the host publishes on the old
// one to the end. Calls that wait for their answer keep that one, which ends with the last of
// them. If the new connection cannot be opened, the client stays; if it or the old one then
// fails, the client reconnects as from a lost one.
func (k *connector) move(l *link) {
	b := NewBackoff()
	for moved := false; !moved; {
		timer := time.NewTimer(b.NextBackOff()) // not all clients of a relay at once
		select {
		case <-timer.C:
		case <-l.ended:
			timer.Stop()
			return
		case <-k.c.ctx.Done():
			timer.Stop()
			return
		}
		var err error
		if moved, err = k.moveOnce(l); err != nil {
			k.c.opts.Logger.Info("cannot move to another connection", "err", err)
		}
	}
	k.leave(l)
}

// moveOnce reports whether the client has left l.
func (k *connector) moveOnce(l *link) (moved bool, err error) {
	c := k.c
	ctx, cancel := context.WithTimeout(c.ctx, c.opts.Timeout)
	defer cancel()
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-k.turn }()
	if c.ctx.Err() != nil || l.peer.Err() != nil {
		return true, ErrClosed // there is nothing to move
	}
	next, err := k.dial(ctx)
	if err != nil {
		return false, err
	}
	if err = k.hold(ctx, l); err == nil {
		c.mu.Lock()
		uris := c.feed.mirror.followed()
		c.mu.Unlock()
		h := handshake{c: c, link: next, uris: uris, from: l}
		if err = h.run(ctx); err != nil {
			l.peer.Close(ws.CodeNormal, "") // the client reconnects
			moved = true
		}
	}
	if err != nil {
		next.close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !l.left {
		l.holding = false
		c.feed.dispatches.release(l)
	}
	if c.held != nil {
		close(c.held)
		c.held = nil
	}
	return moved || err == nil, err
}

// hold stops sending, and waits until the host has handled what was sent in order.
func (k *connector) hold(ctx context.Context, l *link) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	c := k.c
	c.mu.Lock()
	if _, err := c.live(); err != nil || c.link != l {
		c.mu.Unlock()
		return errors.New("the connection has ended")
	}
	c.held, l.holding = make(chan struct{}), true
	subscribed := make(chan struct{})
	if l.subscribing == 0 {
		close(subscribed)
	} else {
		l.subscribed = subscribed
	}
	c.mu.Unlock()
	select {
	case <-subscribed:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := call(ctx, l, ahp.Ping, ahp.PingParams{Channel: ahp.RootURI})
	return err
}

// leave waits for the answers on a connection that the client has left, and lets the host end
// it: a ping there says that the client waits for no more.
func (k *connector) leave(l *link) {
	unused := make(chan struct{})
	k.c.mu.Lock()
	if l.calls == 0 {
		close(unused)
	} else {
		l.unused = unused
	}
	k.c.mu.Unlock()
	select {
	case <-unused:
		_, _ = call(k.c.ctx, l, ahp.Ping, ahp.PingParams{Channel: ahp.RootURI})
	case <-l.ended:
	case <-k.c.ctx.Done():
	}
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	select {
	case <-l.ended:
	case <-late.C:
	case <-k.c.ctx.Done():
	}
	l.close()
	close(l.over)
}

// leaveTime is how long the host has for its own requests on a connection that the client left.
const leaveTime = time.Minute
