package reach

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Dial connects to the agent's endpoint of the host.
func (h Host) Dial(ctx context.Context, env *term.Env) (*mcp.Client, error) {
	c, err := mcp.Dial(ctx, mcp.ClientOptions{URL: h.MCP, Token: h.Token, Version: env.Version})
	if err != nil {
		return nil, h.Error(err)
	}
	return c, nil
}

// Error puts the host's address before an error.
func (h Host) Error(err error) error { return term.About(h.Address(), err) }

// Dial resolves the target and connects to the agent's endpoint.
func (t Target) Dial(ctx context.Context, env *term.Env) (*mcp.Client, error) {
	h, err := t.Resolve(env)
	if err != nil {
		return nil, err
	}
	return h.Dial(ctx, env)
}

// Call connects to the host, runs one tool and disconnects. It shows progress.
func (t Target) Call(ctx context.Context, env *term.Env, tool string, args any) (ahp.Value, error) {
	defer env.Progress("Waiting for the host")()
	c, err := t.Dial(ctx, env)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Call(ctx, tool, ahp.MustMarshal(args))
}

// CallInto runs a tool over a connection and decodes its result.
func CallInto(ctx context.Context, c *mcp.Client, tool string, args, result any) error {
	value, err := c.Call(ctx, tool, ahp.MustMarshal(args))
	if err != nil {
		return err
	}
	return Decode(tool, value, result)
}

// Decode decodes the result of a tool.
func Decode(tool string, value ahp.Value, result any) error {
	if err := ahp.Unmarshal(value, result); err != nil {
		return term.Failf(mcp.CodeUnreachable, "the result of %s does not come from a canvas host: %v", tool, err)
	}
	return nil
}
