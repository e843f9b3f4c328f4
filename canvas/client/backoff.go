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

// Backoff returns the wait before the next attempt to connect. Its Reset is called
// after a connection that lasted. A Backoff belongs to one client, which calls it
// from one goroutine.
type Backoff = backoff.BackOff

// NewBackoff returns a Backoff that never gives up. It waits 0.2 s at first, and half
// as long again after each failure, up to 5 s. Each wait is randomized by half, so
// that the clients of a restarted host do not all connect at once. A wait is about
// half of the time that the host has been unreachable.
func NewBackoff() Backoff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, Multiplier: 1.5, MaxInterval: 5 * time.Second, RandomizationFactor: 0.5,
	}
}

// resetAfter is how long a connection must last to reset the Backoff: a host that
// drops each connection at once must not be dialed more often than one that is
// unreachable.
const resetAfter = 2 * time.Second

// GivenUp reports that a client with Options.Backoff no longer reconnects: the host
// rejects the token, it supports none of the versions, or the Backoff has stopped.
// All watches have ended with it. Reconnect may still be called; the client does not
// reconnect automatically after it.
type GivenUp struct {
	// Err is the error of the last attempt.
	Err error
}

// Error implements error.
func (e *GivenUp) Error() string { return "gave up reconnecting: " + e.Err.Error() }

// Unwrap returns the error of the last attempt.
func (e *GivenUp) Unwrap() error { return e.Err }

// reconnector reconnects a client automatically.
type reconnector struct {
	c       *Client
	backoff Backoff
}

// run reconnects whenever the connection is lost, until the client is closed or no
// attempt can succeed.
func (r *reconnector) run() {
	r.backoff.Reset()
	for {
		began := time.Now()
		select {
		case <-r.c.Disconnected():
		case <-r.c.ctx.Done():
			return
		}
		if time.Since(began) >= resetAfter {
			r.backoff.Reset()
		}
		if err := r.retry(); err != nil && r.giveUp(err) {
			return
		}
	}
}

// retry tries to reconnect until it succeeds, or no attempt can succeed.
func (r *reconnector) retry() error {
	last := r.c.Err()
	for {
		wait := r.backoff.NextBackOff()
		if wait == backoff.Stop {
			return last
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.c.ctx.Done():
			timer.Stop()
			return ErrClosed
		}
		ctx, cancel := context.WithTimeout(r.c.ctx, r.c.opts.Timeout)
		err := r.c.connector.resume(ctx, true)
		cancel()
		if err == nil {
			return nil
		}
		if r.c.ctx.Err() != nil || permanent(err) {
			return err
		}
		r.c.opts.Logger.Info("cannot reconnect yet", "err", err)
		last = err
	}
}

// permanent reports whether every further attempt would fail alike.
func permanent(err error) bool {
	if he, ok := errors.AsType[*ws.HandshakeError](err); ok {
		return he.Status == http.StatusUnauthorized || he.Status == http.StatusForbidden
	}
	return errors.Is(err, &ahp.Error{Code: ahp.CodeUnsupportedProtocolVersion})
}

// giveUp ends the watches, unless the client is closed, or a call of Reconnect has
// connected it meanwhile.
func (r *reconnector) giveUp(err error) (over bool) {
	if r.c.ctx.Err() != nil {
		return true
	}
	r.c.opts.Logger.Warn("gave up reconnecting", "err", err)
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if _, lost := r.c.live(); lost == nil {
		return false
	}
	given := &GivenUp{Err: fmt.Errorf("reconnect: %w", err)}
	r.c.link.cause = given
	close(r.c.next)
	r.c.next = make(chan struct{})
	r.c.feed.watches.endAll(given)
	return true
}
