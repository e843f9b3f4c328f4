package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Backoff says how long to wait before the next attempt to connect; Reset is
// called when a connection has lasted. One belongs to one client, which calls it
// from one goroutine.
type Backoff = backoff.BackOff

// NewBackoff waits 0.2 s at first and half as long again each time, up to five
// seconds, each by half more or less at random, so that the clients of a host
// that starts again do not come all at once. A wait is then about half of the
// time that the host has been away. It never gives up.
func NewBackoff() Backoff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, Multiplier: 1.5, MaxInterval: 5 * time.Second, RandomizationFactor: 0.5,
	}
}

// stable is how long a connection must have lasted for the next loss to begin
// with the first wait. A host that takes every client and drops it at once is
// then not asked more often than one that is away.
const stable = 2 * time.Second

// GivenUp is why a client with Options.Backoff does not reconnect any more: the
// token is not taken, no version is spoken, or the Backoff said to stop. All
// watches have ended with it. Reconnect may still be called; after that nothing
// reconnects by itself any more.
type GivenUp struct{ Err error }

func (e *GivenUp) Error() string { return "gave up reconnecting: " + e.Err.Error() }
func (e *GivenUp) Unwrap() error { return e.Err }

// keepConnected reconnects whenever the connection is lost, until the client is
// closed or no attempt can succeed.
func (c *Client) keepConnected() {
	b := c.opts.Backoff
	b.Reset()
	for {
		began := time.Now()
		select {
		case <-c.Disconnected():
		case <-c.life.Done():
			return
		}
		if time.Since(began) >= stable {
			b.Reset()
		}
		if err := c.retry(b); err != nil && c.giveUp(err) {
			return
		}
	}
}

// retry returns nil when there is a connection, and an error when there will be
// none.
func (c *Client) retry(b Backoff) error {
	last := c.Err()
	for {
		wait := b.NextBackOff()
		if wait == backoff.Stop {
			return last
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.life.Done():
			timer.Stop()
			return ErrClosed
		}
		ctx, cancel := context.WithTimeout(c.life, c.opts.Timeout)
		err := c.resume(ctx, true)
		cancel()
		if err == nil {
			return nil
		}
		if c.life.Err() != nil || hopeless(err) {
			return err
		}
		c.opts.Logger.Info("cannot reconnect yet", "err", err)
		last = err
	}
}

// hopeless reports whether the host would answer the same again.
func hopeless(err error) bool {
	if he, ok := errors.AsType[*ws.HandshakeError](err); ok {
		return he.Status == http.StatusUnauthorized || he.Status == http.StatusForbidden
	}
	return errors.Is(err, &ahp.Error{Code: ahp.CodeUnsupportedProtocolVersion})
}

// giveUp ends the watches, unless the client is closed, or connected after all:
// somebody may have called Reconnect meanwhile.
func (c *Client) giveUp(err error) (over bool) {
	if c.life.Err() != nil {
		return true
	}
	c.opts.Logger.Warn("gave up reconnecting", "err", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, lost := c.live(); lost == nil {
		return false
	}
	given := &GivenUp{Err: fmt.Errorf("reconnect: %w", err)}
	c.link.cause = given
	for w := range c.watches {
		w.end(given)
	}
	return true
}
