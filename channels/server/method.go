package server

import (
	"context"
	"io"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Waits says what a method may have to wait for. A method that waits leaves the
// order of its connection; the others must be quick.
type Waits uint8

// What methods wait for.
const (
	Never Waits = iota
	// ForSomebody: a provider, a disk.
	ForSomebody
	// ForContent: a content read, whose large answer leaves behind everything
	// that is small (architecture.md section 3, two lanes).
	ForContent
)

// Method is one row of the server's method table: what it is called, and what
// happens.
type Method struct {
	Info  ahp.MethodInfo
	Waits Waits

	call func(ctx context.Context, c *conn, req *peer.Request) // answers req
}

// Handle makes a row of a typed method and its handler. from is the connection
// that asked, after its handshake.
func Handle[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (R, error)) Method {
	return row(m, Never, func(ctx context.Context, c *conn, req *peer.Request, p P) error {
		result, err := fn(ctx, c.sub, p)
		if err == nil {
			req.Reply(result)
		}
		return err
	})
}

// row makes a row whose params are read before do, which answers, or returns why it
// did not.
func row[P, R any](m ahp.Method[P, R], waits Waits, do func(ctx context.Context, c *conn, req *peer.Request, p P) error) Method {
	return Method{Info: m.MethodInfo, Waits: waits, call: func(ctx context.Context, c *conn, req *peer.Request) {
		var p P
		err := decodeParams(m.MethodInfo, req.Params, &p)
		if err == nil {
			err = do(ctx, c, req, p)
		}
		if err != nil {
			req.Fail(err)
		}
	}}
}

// HandleContent makes the row of a method that reads content: its handler
// encodes the result itself.
func HandleContent[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (ahp.Value, error)) Method {
	return row(m, ForContent, func(ctx context.Context, c *conn, req *peer.Request, p P) error {
		result, err := fn(ctx, c.sub, p)
		if err == nil {
			req.ReplyContent(result)
		}
		return err
	})
}

// HandleStream makes the row of a method that reads content, whose result is
// either encoded, or written piece by piece when its turn comes.
func HandleStream[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (ahp.Value, func(io.Writer) error, error)) Method {
	return row(m, ForContent, func(ctx context.Context, c *conn, req *peer.Request, p P) error {
		value, write, err := fn(ctx, c.sub, p)
		switch {
		case err != nil:
		case write != nil:
			req.ReplyStream(write)
		default:
			req.ReplyContent(value)
		}
		return err
	})
}

// Refuse makes a row that answers every request with err, once its params were
// read: for methods that are known, so that they are a refusal and not an
// unknown method.
func Refuse[P, R any](m ahp.Method[P, R], err *ahp.Error) Method {
	return Handle(m, func(context.Context, *channels.Subscriber, P) (R, error) {
		var none R
		return none, err
	})
}

// RefuseUnread makes a row that answers every request with err, whatever its params
// are: for methods that nobody may call here.
func RefuseUnread(info ahp.MethodInfo, err *ahp.Error) Method {
	return Method{Info: info, call: func(_ context.Context, _ *conn, req *peer.Request) { req.Fail(err) }}
}

// Waiting returns the row as one that leaves the order of its connection.
func (m Method) Waiting() Method {
	m.Waits = ForSomebody
	return m
}

// decodeParams reads params strictly. Absent params are an empty object; an
// absent channel is the root's for methods of the connection.
func decodeParams(info ahp.MethodInfo, raw ahp.Value, p any) error {
	if raw == nil {
		raw = ahp.Value("{}")
	}
	if err := ahp.Unmarshal(raw, p); err != nil {
		return ahp.Errorf(ahp.CodeInvalidParams, "%s: %v", info.Name, err)
	}
	if v, ok := p.(ahp.Validator); ok {
		if err := v.Validate(); err != nil {
			return ahp.Errorf(ahp.CodeInvalidParams, "%s: %v", info.Name, err)
		}
	}
	return nil
}
