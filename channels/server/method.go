package server

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Method is one row of the server's method table: what it is called, and what
// happens.
type Method struct {
	Info ahp.MethodInfo
	// Concurrent rows leave the order of their connection, because they may
	// wait for somebody; the others must be quick.
	Concurrent bool
	// Content rows answer with large results, which leave behind everything
	// that is small (architecture.md section 3, two lanes).
	Content bool

	call func(ctx context.Context, c *conn, req *peer.Request) // answers req
}

// Handle makes a row of a typed method and its handler. from is the connection
// that asked, after its handshake.
func Handle[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (R, error)) Method {
	return Method{Info: m.MethodInfo, call: func(ctx context.Context, c *conn, req *peer.Request) {
		var p P
		if err := decodeParams(m.MethodInfo, req.Params, &p); err != nil {
			req.Fail(err)
			return
		}
		result, err := fn(ctx, c.sub, p)
		if err != nil {
			req.Fail(err)
			return
		}
		req.Reply(result)
	}}
}

// HandleEncoded is Handle for methods whose handler encodes its result itself.
func HandleEncoded[P, R any](m ahp.Method[P, R], fn func(ctx context.Context, from *channels.Subscriber, p P) (ahp.Value, error)) Method {
	encoded := ahp.Method[P, ahp.Value]{MethodInfo: m.MethodInfo}
	return Handle(encoded, fn)
}

// Refuse makes a row that answers every request with err: for methods that are
// known, so that they are a refusal and not an unknown method.
func Refuse(info ahp.MethodInfo, err *ahp.Error) Method {
	return Method{Info: info, call: func(_ context.Context, _ *conn, req *peer.Request) { req.Fail(err) }}
}

// Waiting returns the row as a concurrent one.
func (m Method) Waiting() Method {
	m.Concurrent = true
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
