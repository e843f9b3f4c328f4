package main

import (
	"context"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// dial enters the host that the command line means.
func (a *app) dial(ctx context.Context) (*mcp.Client, error) {
	to, err := a.resolve()
	if err != nil {
		return nil, err
	}
	c, err := mcp.Dial(ctx, mcp.ClientOptions{URL: to.url, Token: to.token, Version: buildVersion()})
	if err != nil {
		return nil, at(to, err)
	}
	return c, nil
}

// at says in an error which host it is about.
func at(to door, err error) error { return about(strings.TrimSuffix(to.url, "/mcp"), err) }

// call enters the host, runs one tool, and leaves.
func (a *app) call(ctx context.Context, tool string, args any) (ahp.Value, error) {
	defer a.progress("Waiting for the host")()
	c, err := a.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Call(ctx, tool, ahp.MustMarshal(args))
}

// into runs a tool and decodes its answer.
func into(ctx context.Context, c *mcp.Client, tool string, args, into any) error {
	value, err := c.Call(ctx, tool, ahp.MustMarshal(args))
	if err != nil {
		return err
	}
	return decode(tool, value, into)
}

func decode(tool string, value ahp.Value, into any) error {
	if err := ahp.Unmarshal(value, into); err != nil {
		return failf(mcp.CodeUnreachable, "the answer to %s is none of a canvas host: %v", tool, err)
	}
	return nil
}
