package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
)

// Client is a client of one host. Make it with [Dial]; it must be closed. Its
// methods may be called concurrently.
type Client struct {
	opts   Options
	opened string // tells a relay this client apart from others with the same token

	ctx       context.Context // done after Close
	cancel    context.CancelFunc
	closeOnce sync.Once

	connector    connector
	declarations declarations
	provided     provided
	work         sync.WaitGroup // goroutines that Close waits for

	// mu guards what follows. Under it the client only calls reducers, queues
	// frames and locks provided: nothing waits.
	mu      sync.Mutex
	closed  bool
	link    *link         // the newest connection that was opened; never nil after Dial
	next    chan struct{} // closed when the client has another connection, or gives up
	held    chan struct{} // while the client moves to another connection, nothing is sent; closed then, and nil
	version string
	secret  string // that a new connection shows to be this client
	server  *ahp.ServerInfo
	feed    feed
}

// Dial connects to a host's AHP endpoint, a ws or wss URL, and sends initialize
// with Options.Subscriptions. ctx only limits Dial. If the host supports none of
// the versions, the error is an *[ahp.Error]; if it rejects the token, a
// *ws.HandshakeError.
func Dial(ctx context.Context, url string, opts Options) (*Client, error) {
	c := &Client{opts: opts.withDefaults(), opened: rand.Text(), next: make(chan struct{})}
	if c.opts.Verifier == nil {
		c.opts.Verifier = proof.NewVerifier(url, c.opts.Token, c.opts.NetDial)
	}
	c.feed = newFeed(c)
	c.connector = newConnector(c, url)
	c.declarations = newDeclarations(c)
	c.provided = newProvided(c)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	for _, uri := range c.opts.Subscriptions {
		c.feed.mirror.add(uri)
	}
	if err := c.connector.connect(ctx, c.opts.Subscriptions); err != nil {
		c.cancel()
		return nil, fmt.Errorf("dial: %w", err)
	}
	if c.opts.Backoff != nil {
		r := reconnector{c: c, backoff: c.opts.Backoff}
		c.work.Go(r.run)
	}
	return c, nil
}

// ID returns the client id.
func (c *Client) ID() string { return c.opts.ClientID }

// Version returns the protocol version that was negotiated.
func (c *Client) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Server returns the host's name and version from the handshake, or nil.
func (c *Client) Server() *ahp.ServerInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// live returns the connection, or the error that ended it. It is called under the
// mutex.
func (c *Client) live() (*link, error) {
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.link.cause != nil:
		return nil, c.link.cause
	case c.link.broken != nil:
		return nil, c.link.broken
	}
	return c.link, nil
}

// Err returns nil while the client is connected. Otherwise it returns a [*Closed],
// a [*ProtocolError], a [*GivenUp] or [ErrClosed].
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.live()
	return err
}

// Disconnected returns a channel that is closed when the current connection has
// ended and everything read from it has been handled. Each connection has another
// channel.
func (c *Client) Disconnected() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.ended
}

// Close ends the connection, all watches and all instances that the client
// provides, and waits for all goroutines of the client. Calls and dispatches in
// flight fail. A second Close waits for the first.
func (c *Client) Close() {
	c.closeOnce.Do(func() {
		c.cancel()
		c.connector.turn <- struct{}{} // never released: no Reconnect starts after this
		c.mu.Lock()
		c.closed = true
		l := c.link
		c.mu.Unlock()
		l.close()
		c.work.Wait()
		c.provided.endAll()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.feed.watches.endAll(ErrClosed)
	})
}
