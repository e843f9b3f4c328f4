package mcp

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Proxy returns a door to the host that c has entered: the tools and their words
// are the host's, calls and their cancellations pass through with every digit.
// The client must stay open as long as the door.
func (c *Client) Proxy(ctx context.Context, opts Options) (*Server, error) {
	session, err := c.enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, &canvas.Error{Code: CodeUnreachable, Message: "the host did not answer: " + plain(err).Error()}
	}
	host := session.InitializeResult()
	if host.ServerInfo == nil {
		return nil, errNoHost
	}
	s := newServer(opts, host.ServerInfo, host.Instructions)
	for _, t := range tools.Tools {
		if err := c.offer(s, t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// offer adds a tool of the host. The library panics where it is none, which of a
// stranger at the host's address is no bug of ours.
func (c *Client) offer(s *Server, t *sdk.Tool) (err error) {
	defer func() {
		if recover() != nil {
			err = errNoHost
		}
	}()
	s.add(t, func(ctx context.Context, args ahp.Value) (*sdk.CallToolResult, error) {
		return c.pass(ctx, t.Name, args)
	})
	return nil
}

// pass hands a call on. A host that is gone is a result that the model can
// read, and not an end of the stream.
func (c *Client) pass(ctx context.Context, tool string, args ahp.Value) (*sdk.CallToolResult, error) {
	r, err := c.forward(ctx, tool, args)
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return errorResult(e), nil
	}
	if err != nil {
		return nil, err
	}
	if exact, ok := Structured(r); ok {
		r.StructuredContent = json.RawMessage(exact)
	}
	return r, nil
}
