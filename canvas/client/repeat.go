package client

import (
	"context"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// onLink calls send with the current connection. If that ends before the answer to a method that
// changes nothing, onLink calls send once more with the next one, which a client with
// Options.Backoff opens.
func (c *Client) onLink(ctx context.Context, m ahp.MethodInfo, send func(context.Context, *link) error) error {
	until := time.Now().Add(c.opts.Timeout)
	l, err := c.takeLink(ctx, m.Name)
	if err != nil {
		return err
	}
	err = send(ctx, l)
	c.giveLink(l)
	if _, ended := errors.AsType[*Closed](err); !ended || !m.Safe || c.opts.Backoff == nil {
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if !c.awaitLinkAfter(ctx, l) {
		return err
	}
	if l, again := c.takeLink(ctx, m.Name); again == nil {
		defer c.giveLink(l)
		err = send(ctx, l)
	}
	return err
}

// awaitLinkAfter waits for a connection after l. It returns false if there is none.
func (c *Client) awaitLinkAfter(ctx context.Context, l *link) bool {
	for {
		c.mu.Lock()
		next := c.next
		_, err := c.live()
		is := c.link != l && err == nil
		_, given := errors.AsType[*GivenUp](err)
		c.mu.Unlock()
		if is || given {
			return is
		}
		select {
		case <-next:
		case <-ctx.Done():
			return false
		case <-c.ctx.Done():
			return false
		}
	}
}
