package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Call sends a request and waits for its result. An error of the host is an
// *[ahp.Error] in the chain. If the connection ends, the call fails at once with a
// [*Closed] and is not repeated.
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
		return result, fmt.Errorf("call %s: the result is invalid: %w", m.Name, err)
	}
	return result, nil
}

// callThen is call for a result that must be handled in order with the host's other
// messages: the reader calls then. On an error of the call, or if the result is
// invalid, then is not called.
func callThen[P, R any](ctx context.Context, l *link, m ahp.Method[P, R], params P, then func(R) error) error {
	var handled error
	err := l.peer.CallThen(ctx, m.Name, params, func(raw ahp.Value) {
		var result R
		if err := ahp.Unmarshal(raw, &result); err != nil {
			handled = fmt.Errorf("call %s: the result is invalid: %w", m.Name, err)
			return
		}
		handled = then(result)
	})
	if err == nil {
		return handled
	}
	return named(m.Name, err)
}

// named adds the method to a refusal of the host.
func named(method string, err error) error {
	if refused(err) {
		return fmt.Errorf("call %s: %w", method, err)
	}
	return err
}

// callRaw returns the result undecoded. It is valid JSON.
func callRaw(ctx context.Context, l *link, method string, params any) (ahp.Value, error) {
	raw, err := l.peer.Call(ctx, method, params)
	return raw, named(method, err)
}

// liveLink returns the current connection for a call of a method.
func (c *Client) liveLink(method string) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	return l, nil
}

// refused reports whether the host answered with an error.
func refused(err error) bool {
	_, ok := errors.AsType[*ahp.Error](err)
	return ok
}

// Notify sends a notification. Use [Client.Dispatch] for actions that have a Go
// type.
func Notify[P any](c *Client, n ahp.Notification[P], params P) error {
	c.mu.Lock()
	l, err := c.live()
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("notify %s: %w", n.Name, err)
	}
	return l.peer.Notify(n.Name, params)
}
