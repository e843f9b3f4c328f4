package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Call sends a request and waits for its answer. An error of the host is an
// *[ahp.Error] in the chain; a connection that ends fails the call at once with
// a [*Closed], and it is not sent again.
func Call[P, R any](ctx context.Context, c *Client, m ahp.Method[P, R], params P) (R, error) {
	var result R
	l, err := c.liveLink(m.Name)
	if err != nil {
		return result, err
	}
	return call(ctx, l, m, params)
}

func call[P, R any](ctx context.Context, l *link, m ahp.Method[P, R], params P) (R, error) {
	var result R
	raw, err := callRaw(ctx, l, m.Name, params)
	if err != nil {
		return result, err
	}
	if err := ahp.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("call %s: the answer cannot be read: %w", m.Name, err)
	}
	return result, nil
}

// callThen is call for an answer that must be taken in its place among what the
// host says. The error is the call's, and then not called; or that the answer
// cannot be read, or then's.
func callThen[P, R any](ctx context.Context, l *link, m ahp.Method[P, R], params P, then func(R) error) error {
	var taken error
	err := l.peer.CallThen(ctx, m.Name, params, func(raw ahp.Value) {
		var result R
		if err := ahp.Unmarshal(raw, &result); err != nil {
			taken = fmt.Errorf("call %s: the answer cannot be read: %w", m.Name, err)
			return
		}
		taken = then(result)
	})
	if err == nil {
		return taken
	}
	return named(m.Name, err)
}

// named says what the host refused.
func named(method string, err error) error {
	if refused(err) {
		return fmt.Errorf("call %s: %w", method, err)
	}
	return err
}

// callRaw returns the result as it came, which is valid JSON.
func callRaw(ctx context.Context, l *link, method string, params any) (ahp.Value, error) {
	raw, err := l.peer.Call(ctx, method, params)
	return raw, named(method, err)
}

// liveLink is the present connection; what is an error where there is none.
func (c *Client) liveLink(what string) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", what, err)
	}
	return l, nil
}

// refused reports whether the host answered, with an error.
func refused(err error) bool {
	_, ok := errors.AsType[*ahp.Error](err)
	return ok
}

// Notify sends a notification, which nothing answers. Actions are better sent
// with [Client.Dispatch]: this is for those that have no Go type.
func Notify[P any](c *Client, n ahp.Notification[P], params P) error {
	c.mu.Lock()
	l, err := c.live()
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("notify %s: %w", n.Name, err)
	}
	return l.peer.Notify(n.Name, params)
}
