package client

import (
	"context"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
)

// Client follows channels of one host. Make it with [Dial], end it with Close.
// Its methods may be called concurrently.
type Client struct {
	url  string
	opts Options

	life context.Context // ends with Close
	stop context.CancelFunc
	turn chan struct{} // holds one: who connects, or closes
	once sync.Once

	// mu guards what follows. Under it nothing waits and nothing is called but
	// pure reducers and the peer's queue.
	mu         sync.Mutex
	closed     bool
	link       *link // the newest connection that was opened; never nil after Dial
	version    string
	server     *ahp.ServerInfo
	mirror     mirror
	clientSeq  int64 // rises over all connections, so that a late echo is nobody else's
	dispatched map[int64]*Dispatched
	watches    map[*Watch]struct{}
	declared   map[string]*declared // by session: what Provide declared
	provides   bool                 // Provide was called

	declaring chan struct{} // holds one: the Provide that waits for its echo
	provided  provided
	work      sync.WaitGroup // keepConnected, mailboxes, subscriptions and ends of instances
}

// Dial connects to a host's AHP endpoint, a ws or wss URL, and opens the
// connection with initialize and Options.Subscriptions. ctx bounds that and
// nothing after it. A host that speaks none of the versions answers with an
// *[ahp.Error]; a token that it does not take is a *ws.HandshakeError.
func Dial(ctx context.Context, url string, opts Options) (*Client, error) {
	c := &Client{
		url: url, opts: opts.withDefaults(), turn: make(chan struct{}, 1),
		mirror: newMirror(), dispatched: map[int64]*Dispatched{}, watches: map[*Watch]struct{}{},
		declared: map[string]*declared{}, declaring: make(chan struct{}, 1),
	}
	if c.opts.Door == nil {
		c.opts.Door = proof.NewDoor(url, c.opts.Token, c.opts.NetDial)
	}
	c.provided = newProvided(c)
	c.life, c.stop = context.WithCancel(context.Background())
	for _, uri := range c.opts.Subscriptions {
		c.mirror.want(uri)
	}
	if err := c.connect(ctx, c.opts.Subscriptions); err != nil {
		c.stop()
		return nil, fmt.Errorf("dial: %w", err)
	}
	if c.opts.Backoff != nil {
		c.work.Go(c.keepConnected)
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

// Server returns what the host said of itself, or nil.
func (c *Client) Server() *ahp.ServerInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// live returns the connection, or why there is none. It is called under the
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

// hasProvided reports whether Provide was called: only then are requests of the
// host answered.
func (c *Client) hasProvided() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.provides
}

// Err returns nil while the client is connected; otherwise why it is not: a
// [*Closed], a [*ProtocolError], a [*GivenUp] or [ErrClosed].
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.live()
	return err
}

// Disconnected is closed when the present connection has ended and all that it
// brought is in the mirror. After a Reconnect it is another channel.
func (c *Client) Disconnected() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.ended
}

// Close ends the connection, all watches and all instances that the client
// provides, and waits until every goroutine of the client is gone. Calls and
// dispatches in flight fail. A second Close waits for the first.
func (c *Client) Close() {
	c.once.Do(func() {
		c.stop()
		c.turn <- struct{}{} // for ever: nobody connects any more
		c.mu.Lock()
		c.closed = true
		l := c.link
		c.mu.Unlock()
		l.close()
		c.work.Wait()
		c.provided.endAll()
		c.mu.Lock()
		defer c.mu.Unlock()
		for w := range c.watches {
			w.end(ErrClosed)
		}
	})
}
