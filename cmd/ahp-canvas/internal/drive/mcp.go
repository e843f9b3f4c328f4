package drive

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// LocalHost is a host that mcp starts in its own process if none is running.
type LocalHost interface {
	// Flags adds the host's flags to a command.
	Flags(cmd *cobra.Command)
	// ServeStdio starts the host and serves MCP on standard streams until the agent
	// leaves or ctx is canceled, and then ends the host. Its error matches
	// statedir.ErrInUse if another host has the state folder.
	ServeStdio(ctx context.Context, env *term.Env) error
}

// MCPCommand returns mcp. It starts local if no host is running.
func MCPCommand(env *term.Env, local LocalHost) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output, for an agent",
		Long: `Serve MCP on standard input and output, for agents that start their tools as
subprocesses.

If a host is running, its tools are served. Otherwise mcp starts a host in its
own process, which ends when the agent leaves; the flags of a host apply only
then. Its link is printed on standard error, and open_canvas returns it.`,
		Example: `  {"mcpServers": {"canvas": {"command": "ahp-canvas", "args": ["mcp"]}}}`,
		Args:    term.Args(),
		RunE:    term.Run(func(ctx context.Context, _ []string) error { return serveMCP(ctx, env, to, local) }),
	}
	local.Flags(cmd)
	to.Flags(cmd)
	return cmd
}

// startTimeout is how long mcp waits for a host that has the state folder but no endpoint
// file, because it is starting or ending. Agents that start at the same time, as at a login,
// all find that no host is running.
const startTimeout = 5 * time.Second

// serveMCP is the endpoint of the running host, or of a local one.
func serveMCP(ctx context.Context, env *term.Env, to reach.Target, local LocalHost) error {
	if term.IsTerminal(env.In) {
		env.Hint("Waiting for an agent's messages on standard input. An agent's configuration runs this command; Ctrl-D ends it.")
	}
	waiting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for first := true; ; first = false {
		h, err := to.Resolve(env)
		switch {
		case err == nil:
			return proxyMCP(ctx, env, h)
		case to.Host != "" || !errors.Is(err, &canvas.Error{Code: term.CodeNoHost}):
			return err
		}
		err = local.ServeStdio(ctx, env)
		if !errors.Is(err, statedir.ErrInUse) {
			return err
		}
		if first {
			env.Note("another host is starting or ending and holds the state folder; waiting for it.")
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-waiting.Done():
			return err
		}
	}
}

// proxyMCP forwards standard streams to a running host.
func proxyMCP(ctx context.Context, env *term.Env, h reach.Host) error {
	c, err := h.Dial(ctx, env)
	if err != nil {
		return err
	}
	defer c.Close()
	proxy, err := c.Proxy(ctx, mcp.Options{})
	if err != nil {
		return h.Error(err)
	}
	return proxy.ServeStdio(ctx, env.In, term.NopCloser(env.Out))
}
