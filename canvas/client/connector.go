package client

import (
	"context"
	"fmt"

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
	l := &link{c: k.c, ended: make(chan struct{})}
	l.peer = peer.New(conn, l, k.c.opts.peer())
	l.peer.Start()
	return l, nil
}
