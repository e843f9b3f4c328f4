package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
)

// Call sends a request and waits for its result. An error of the host is an
// *[ahp.Error] in the chain. If the connection ends, the call fails at once with a
// [*Closed]. With Options.Backoff, a method that changes nothing is sent once more on the
// next connection, within Options.Timeout of the call.
func Call[P, R any](ctx context.Context, c *Client, m ahp.Method[P, R], params P) (result R, err error) {
	err = c.onLink(ctx, m.MethodInfo, func(ctx context.Context, l *link) (err error) {
		result, err = call(ctx, l, m, params)
		return err
	})
	return result, err
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

// takeLink returns the current connection for a call of a method, or the next one while the
// client moves to it. The caller must call giveLink after the call.
func (c *Client) takeLink(ctx context.Context, method string) (*link, error) {
	if err := c.unheld(ctx); err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	l.calls++
	return l, nil
}

func (c *Client) giveLink(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.calls--; l.calls == 0 && l.unused != nil {
		close(l.unused)
		l.unused = nil
	}
}

// unheld waits until the client does not move, and locks the mutex. After an error it is not
// locked.
func (c *Client) unheld(ctx context.Context) error {
	for {
		c.mu.Lock()
		held := c.held
		if held == nil {
			return nil
		}
		c.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refused reports whether the host answered with an error.
func refused(err error) bool {
	_, ok := errors.AsType[*ahp.Error](err)
	return ok
}

// Notify sends a notification. Use [Client.Dispatch] for actions that have a Go
// type.
func Notify[P any](c *Client, n ahp.Notification[P], params P) error {
	_ = c.unheld(context.Background()) // a move is limited in time
	defer c.mu.Unlock()
	l, err := c.live()
	if err != nil {
		return fmt.Errorf("notify %s: %w", n.Name, err)
	}
	frame, err := peer.Notification(n.Name, params)
	if err == nil {
		l.peer.Push(frame)
	}
	return err
}
