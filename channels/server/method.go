package server

import (
	"context"
	"io"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Order says how a method's requests are ordered with others of their connection.
type Order uint8

const (
	// InOrder methods are handled in the order in which they arrive. They must not
	// block.
	InOrder Order = iota
	// Concurrent methods may block, for example on a provider or a disk. Later requests
	// do not wait for them.
	Concurrent
	// Content methods are concurrent, and read content. Their answers are sent when no
	// other message waits, because they might be large.
	Content
)

// Method is a row of the server's method table.
type Method struct {
	// Info is the method's declaration.
	Info ahp.MethodInfo
	// Order says how its requests are ordered.
	Order Order

	call func(ctx context.Context, c *conn, req *peer.Request) // replies to req
}

// Handle returns the row of a method with a handler. from is the connection that sent
// the request, after its handshake.
func Handle[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (R, error)) Method {
	return row(m, InOrder, func(ctx context.Context, c *conn, req *peer.Request, p P) error {
		result, err := fn(ctx, c.sub, p)
		if err == nil {
			req.Reply(result)
		}
		return err
	})
}

// row returns a row that decodes the params and calls do. do replies to the request
// or returns an error.
func row[P, R any](m ahp.Method[P, R], order Order, do func(ctx context.Context, c *conn, req *peer.Request, p P) error) Method {
	return Method{Info: m.MethodInfo, Order: order, call: func(ctx context.Context, c *conn, req *peer.Request) {
		var p P
		err := decodeParams(m.MethodInfo, req.Params, &p)
		if err == nil {
			err = do(ctx, c, req, p)
		}
		c.recordRequest(m.MethodInfo, req, err)
		if err != nil {
			req.Fail(err)
		}
	}}
}

// HandleContent returns the row of a method that reads content. Its handler returns
// the encoded result.
func HandleContent[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (ahp.Value, error)) Method {
	return row(m, Content, func(ctx context.Context, c *conn, req *peer.Request, p P) error {
		result, err := fn(ctx, c.sub, p)
		if err == nil {
			// Read with resourceRead, content is encoded for one connection.
			c.account.Add(budget.Content, int64(len(result)))
			req.ReplyContentThen(result, func() { c.account.Give(budget.Content, int64(len(result))) })
		}
		return err
	})
}

// HandleStream returns the row of a method that reads content. Its handler returns
// either the encoded result, or a function that writes the result when it is sent. done is
// called once the result has been sent or dropped.
func HandleStream[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (value ahp.Value, write func(io.Writer) error, done func(), err error)) Method {
	return row(m, Content, func(ctx context.Context, c *conn, req *peer.Request, p P) error {
		value, write, done, err := fn(ctx, c.sub, p)
		switch {
		case err != nil:
		case write != nil:
			req.ReplyStreamThen(write, done)
		default:
			req.ReplyContentThen(value, done)
		}
		return err
	})
}

// Refuse returns the row of a known method that this host does not support. It
// answers every request that has valid params with err.
func Refuse[P, R any](m ahp.Method[P, R], err *ahp.Error) Method {
	return Handle(m, func(context.Context, *channels.Subscriber, P) (R, error) {
		var none R
		return none, err
	})
}

// RefuseUnread returns the row of a method that no client may call. It answers every
// request with err, without decoding its params.
func RefuseUnread(info ahp.MethodInfo, err *ahp.Error) Method {
	return Method{Info: info, call: func(_ context.Context, _ *conn, req *peer.Request) { req.Fail(err) }}
}

// Concurrent returns a copy of the row whose Order is Concurrent.
func (m Method) Concurrent() Method {
	m.Order = Concurrent
	return m
}

// decodeParams decodes and validates params strictly. Absent params are an empty
// object.
func decodeParams(info ahp.MethodInfo, raw ahp.Value, p any) error {
	if raw == nil {
		raw = ahp.Value("{}")
	}
	var err error
	heavy.Do(len(raw), func() { err = ahp.Unmarshal(raw, p) })
	if err != nil {
		return ahp.Errorf(ahp.CodeInvalidParams, "%s: %v", info.Name, err)
	}
	if v, ok := p.(ahp.Validator); ok {
		if err := v.Validate(); err != nil {
			return ahp.Errorf(ahp.CodeInvalidParams, "%s: %v", info.Name, err)
		}
	}
	return nil
}
