package client

import (
	"context"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Reconnect opens a new connection and resumes on it; one that still lives is
// ended first. It sends reconnect with what the client has seen and follows;
// where the host answers that with an error, initialize on the same socket with
// the same subscriptions. When it returns without an error, the mirror is what
// the host says, and watches have been told. With an error nothing has changed
// but that there is no connection; it may be called again.
//
// Concurrent calls run one after the other, each with a connection of its own.
func (c *Client) Reconnect(ctx context.Context) error { return c.resume(ctx, false) }

// resume does nothing where it is asked to and somebody has connected already.
func (c *Client) resume(ctx context.Context, onlyIfLost bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("reconnect: %w", c.whyNot(ctx))
	}
	defer func() { <-c.turn }()
	if c.life.Err() != nil {
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
			err = c.whyNot(ctx)
		}
		return fmt.Errorf("reconnect: %w", err)
	}
	return nil
}

func (c *Client) whyNot(ctx context.Context) error {
	if c.life.Err() != nil {
		return ErrClosed
	}
	return ctx.Err()
}

// connect dials and opens a connection. Whoever calls it has the turn.
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

// handshake opens the connection. Its answer is taken on the reader, before
// anything that the host says behind it.
func (c *Client) handshake(ctx context.Context, l *link, uris []string) error {
	c.mu.Lock()
	seen := c.mirror.seen
	c.mu.Unlock()
	if seen > 0 {
		answered := false
		err := callThen(ctx, l, ahp.Reconnect, ahp.ReconnectParams{
			Channel: ahp.RootURI, ClientID: c.opts.ClientID, LastSeenServerSeq: seen, Subscriptions: nonNil(uris),
		}, func(answer ahp.ReconnectResult) error {
			answered = true
			return c.back(c.resumed(l, uris, answer))
		})
		if answered || !refused(err) {
			return err
		}
		c.opts.Logger.Info("the host cannot resume; initializing", "err", err)
	}
	return callThen(ctx, l, ahp.Initialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: c.opts.Versions, ClientID: c.opts.ClientID,
		InitialSubscriptions: uris, Capabilities: c.opts.Capabilities,
	}, func(answer ahp.InitializeResult) error { return c.back(c.initialized(l, uris, answer)) })
}

// back is what follows a handshake that did well.
func (c *Client) back(err error) error {
	if err == nil {
		c.declareAgain()
		c.provided.resumed()
	}
	return err
}

func (c *Client) initialized(l *link, uris []string, answer ahp.InitializeResult) error {
	bases, err := readSnapshots(answer.Snapshots)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version, c.server = answer.ProtocolVersion, answer.ServerInfo
	c.restarted(l, uris, bases, answer.ServerSeq)
	return nil
}

// nonNil keeps a required array from being null.
func nonNil(uris []string) []string { return append([]string{}, uris...) }

// resumed takes the answer to reconnect: a replay, or snapshots.
func (c *Client) resumed(l *link, uris []string, answer ahp.ReconnectResult) error {
	if answer.Type == ahp.ReconnectReplay {
		return c.replayed(l, uris, answer)
	}
	bases, err := readSnapshots(answer.Snapshots)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restarted(l, uris, bases, 0)
	return nil
}

// replayed applies what was missed. Where it cannot be applied, the mirror is
// no base for another replay.
func (c *Client) replayed(l *link, uris []string, answer ahp.ReconnectResult) error {
	updates := make([]update, 0, len(answer.Actions))
	for _, e := range answer.Actions {
		u, err := readEnvelope(e)
		if err != nil {
			return err
		}
		updates = append(updates, u)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range updates {
		if err := c.take(u); err != nil {
			c.mirror.restart(0)
			return err
		}
	}
	for _, uri := range answer.Missing {
		c.gone(uri)
	}
	c.opened(l, uris)
	return nil
}

// restarted replaces the followed channels by snapshots; what has none is gone.
// It is called under the mutex, and so are gone and opened.
func (c *Client) restarted(l *link, uris []string, bases []base, seq int64) {
	c.mirror.restart(seq)
	has := map[string]bool{}
	for _, b := range bases {
		has[b.Resource] = true
		c.mirror.last = max(c.mirror.last, b.FromSeq)
		if ch := c.mirror.channels[b.Resource]; ch != nil {
			c.publish(c.mirror.install(ch, b))
		}
	}
	for _, uri := range uris {
		if !has[uri] {
			c.gone(uri)
		}
	}
	c.opened(l, uris)
}

func (c *Client) gone(uri string) {
	if c.mirror.channels[uri] != nil {
		c.publish(c.mirror.drop(uri))
	}
}

// opened makes l the client's connection. What was unsubscribed while the
// handshake was under way is unsubscribed on it.
func (c *Client) opened(l *link, uris []string) {
	c.link = l
	for _, uri := range uris {
		if c.mirror.channels[uri] == nil {
			l.unsubscribe(uri)
		}
	}
}
