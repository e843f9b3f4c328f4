package mcp

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Proxy returns a Server with the tools of c's host. Tool descriptions are the host's;
// calls and cancellations are passed on, with the exact digits of numbers. The client
// must stay open as long as the server.
func (c *Client) Proxy(ctx context.Context, opts Options) (*Server, error) {
	session, tools, err := c.listTools(ctx)
	if err != nil {
		return nil, err
	}
	host := session.InitializeResult()
	if host.ServerInfo == nil {
		return nil, errNoHost
	}
	_, apps := host.Capabilities.Extensions[appsExtension]
	apps = apps && opts.List != AppsNever
	s := newServer(opts, host.ServerInfo, host.Instructions, apps)
	for _, t := range tools {
		if opts.List == AppsNever {
			if appOnly(t) {
				continue
			}
			delete(t.Meta, metaUI)
		}
		if err := c.addTool(s, t); err != nil {
			return nil, err
		}
	}
	if apps {
		err = c.addResources(ctx, session, s)
	}
	return s, err
}

// Tools returns the names of the host's tools for agents. Its errors are *[canvas.Error].
func (c *Client) Tools(ctx context.Context) (names []string, err error) {
	_, tools, err := c.listTools(ctx)
	for _, t := range tools {
		if !appOnly(t) {
			names = append(names, t.Name)
		}
	}
	return names, err
}

func (c *Client) listTools(ctx context.Context) (*sdk.ClientSession, []*sdk.Tool, error) {
	session, err := c.enter(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, nil, &canvas.Error{Code: CodeUnreachable, Message: "the host did not answer: " + cause(err).Error()}
	}
	return session, tools.Tools, nil
}

// addTool adds a tool of the host. The MCP library panics if the tool is invalid, which
// is the other server's fault and not a bug.
func (c *Client) addTool(s *Server, t *sdk.Tool) (err error) {
	defer func() {
		if recover() != nil {
			err = errNoHost
		}
	}()
	s.add(t, func(ctx context.Context, args ahp.Value) (*sdk.CallToolResult, error) {
		return c.callHost(ctx, t.Name, args)
	})
	return nil
}

// addResources adds the host's resources, which it reads when they are read.
func (c *Client) addResources(ctx context.Context, session *sdk.ClientSession, s *Server) (err error) {
	defer func() {
		if recover() != nil { // as in addTool
			err = errNoHost
		}
	}()
	resources, err := session.ListResources(ctx, nil)
	if err != nil {
		return &canvas.Error{Code: CodeUnreachable, Message: "the host did not answer: " + cause(err).Error()}
	}
	templates, err := session.ListResourceTemplates(ctx, nil)
	if err != nil {
		return &canvas.Error{Code: CodeUnreachable, Message: "the host did not answer: " + cause(err).Error()}
	}
	for _, r := range resources.Resources {
		s.mcp.AddResource(r, c.readHost)
	}
	for _, t := range templates.ResourceTemplates {
		s.mcp.AddResourceTemplate(t, c.readHost)
	}
	return nil
}

// readHost reads a resource of the host.
func (c *Client) readHost(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	params := &sdk.ReadResourceParams{URI: req.Params.URI}
	session, err := c.enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	r, err := session.ReadResource(ctx, params)
	if errors.Is(err, sdk.ErrSessionMissing) {
		_ = session.Close() // the host has already ended it
		if session, err = c.enter(ctx, session); err != nil {
			return nil, err
		}
		r, err = session.ReadResource(ctx, params)
	}
	return r, err
}

// callHost passes a call on. If the host is unreachable, the result says so, so that
// the model can read it and the stream continues.
func (c *Client) callHost(ctx context.Context, tool string, args ahp.Value) (*sdk.CallToolResult, error) {
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
