package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Reconnect opens a new connection and resumes on it; it ends the current one
// first. If the host refuses to resume, it sends initialize on the same socket with
// the same subscriptions. After Reconnect has returned nil, the mirror equals the
// host's state, and watches have received the difference. After an error there is
// no connection, and the mirror is unchanged; Reconnect may be called again.
//
// Concurrent calls run one after the other, each with its own connection.
func (c *Client) Reconnect(ctx context.Context) error { return c.resume(ctx, false) }

// resume implements Reconnect. With onlyIfLost, it keeps a connection that another
// call has opened.
func (c *Client) resume(ctx context.Context, onlyIfLost bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	select {
	case c.connecting <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("reconnect: %w", c.closedOr(ctx.Err()))
	}
	defer func() { <-c.connecting }()
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
	uris := c.mirror.followed()
	c.mu.Unlock()
	if err := c.connect(ctx, uris); err != nil {
		if ctx.Err() != nil {
			err = c.closedOr(ctx.Err())
		}
		return fmt.Errorf("reconnect: %w", err)
	}
	return nil
}

// closedOr returns ErrClosed after Close, else err.
func (c *Client) closedOr(err error) error {
	if c.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

// connect dials and does the handshake. Its caller holds connecting.
func (c *Client) connect(ctx context.Context, uris []string) error {
	c.provided.resetQueues()
	l, err := c.dial(ctx)
	if err != nil {
		return err
	}
	if err = c.handshake(ctx, l, uris); err != nil {
		l.close()
	}
	return err
}

// handshake sends reconnect, if the mirror has something to resume from, and
// otherwise initialize. The reader handles the result, before anything that the
// host sends after it.
func (c *Client) handshake(ctx context.Context, l *link, uris []string) error {
	c.mu.Lock()
	seen := c.mirror.seen
	c.mu.Unlock()
	if seen > 0 {
		answered := false
		err := callThen(ctx, l, ahp.Reconnect, ahp.ReconnectParams{
			Channel: ahp.RootURI, ClientID: c.opts.ClientID, LastSeenServerSeq: seen, Subscriptions: nonNil(uris),
		}, func(result ahp.ReconnectResult) error {
			answered = true
			return c.afterHandshake(c.resumed(l, uris, result))
		})
		if answered || !refused(err) {
			return err
		}
		c.opts.Logger.Info("the host cannot resume; initializing", "err", err)
	}
	return callThen(ctx, l, ahp.Initialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: c.opts.Versions, ClientID: c.opts.ClientID,
		InitialSubscriptions: uris, Capabilities: c.opts.Capabilities,
	}, func(result ahp.InitializeResult) error { return c.afterHandshake(c.initialized(l, uris, result)) })
}

// afterHandshake restores what the client provides, if the handshake succeeded.
func (c *Client) afterHandshake(err error) error {
	if err == nil {
		c.declareAgain()
		c.provided.resumed()
	}
	return err
}

// nonNil encodes as [] if there are no URIs: the array is required.
func nonNil(uris []string) []string { return append([]string{}, uris...) }

func (c *Client) initialized(l *link, uris []string, result ahp.InitializeResult) error {
	snapshots, err := decodeSnapshots(result.Snapshots)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version, c.server = result.ProtocolVersion, result.ServerInfo
	c.restart(l, uris, snapshots, result.ServerSeq)
	return nil
}

// resumed handles the result of reconnect: a replay, or snapshots.
func (c *Client) resumed(l *link, uris []string, result ahp.ReconnectResult) error {
	if result.Type == ahp.ReconnectReplay {
		return c.replay(l, uris, result)
	}
	snapshots, err := decodeSnapshots(result.Snapshots)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restart(l, uris, snapshots, 0)
	return nil
}

// replay applies the missed actions. If one cannot be applied, the mirror must not
// be resumed from: the next handshake is initialize.
func (c *Client) replay(l *link, uris []string, result ahp.ReconnectResult) error {
	envelopes := make([]envelope, 0, len(result.Actions))
	for _, raw := range result.Actions {
		e, err := decodeEnvelope(raw)
		if err != nil {
			return err
		}
		envelopes = append(envelopes, e)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range envelopes {
		if err := c.apply(e); err != nil {
			c.mirror.restart(0)
			return err
		}
	}
	for _, uri := range result.Missing {
		c.drop(uri)
	}
	c.use(l, uris)
	return nil
}

// restart replaces the followed channels by snapshots, and drops those without
// one. It is called under the mutex, and so are drop and use.
func (c *Client) restart(l *link, uris []string, snapshots []decodedSnapshot, seq int64) {
	c.mirror.restart(seq)
	has := map[string]bool{}
	for _, s := range snapshots {
		has[s.Resource] = true
		c.mirror.last = max(c.mirror.last, s.FromSeq)
		if ch := c.mirror.channels[s.Resource]; ch != nil {
			c.publish(c.mirror.install(ch, s))
		}
	}
	for _, uri := range uris {
		if !has[uri] {
			c.drop(uri)
		}
	}
	c.use(l, uris)
}

func (c *Client) drop(uri string) {
	if c.mirror.channels[uri] != nil {
		c.publish(c.mirror.drop(uri))
	}
}

// use makes l the client's connection. It unsubscribes from the channels of the
// handshake for which Unsubscribe was called meanwhile.
func (c *Client) use(l *link, uris []string) {
	c.link = l
	for _, uri := range uris {
		if c.mirror.channels[uri] == nil {
			l.unsubscribe(uri)
		}
	}
}
