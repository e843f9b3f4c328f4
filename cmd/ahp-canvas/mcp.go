package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var o hosting
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "The agent's door on standard streams",
		Long: `Speak MCP on standard input and output, for agents that start their tools
themselves.

With a host running, it is that host's door. Without one, it starts a host in
this process and says its link on standard error and in the answer of
open_canvas; that host ends with the agent. The flags of a host matter only
then.`,
		Example: `  {"mcpServers": {"canvas": {"command": "ahp-canvas", "args": ["mcp"]}}}`,
		Args:    takes(),
		RunE:    does(func(ctx context.Context, _ []string) error { return a.mcp(ctx, o) }),
	}
	o.flags(cmd)
	a.targetFlags(cmd)
	return cmd
}

// startPatience is how long an agent's door waits for a host that holds the state
// folder and is not listed: one that starts just now, or ends. Agents that are started
// together, as when a person logs in, all find that no host is running.
const startPatience = 5 * time.Second

func (a *app) mcp(ctx context.Context, o hosting) error {
	waiting, enough := context.WithTimeout(ctx, startPatience)
	defer enough()
	for first := true; ; first = false {
		to, err := a.resolve()
		switch {
		case err == nil:
			return a.mcpThere(ctx, to)
		case !errors.Is(err, &canvas.Error{Code: codeNoHost}):
			return err
		}
		err = a.mcpHere(ctx, o)
		if _, held := errors.AsType[*heldError](err); !held {
			return err
		}
		if first {
			fmt.Fprintln(a.errs, "Note: a host that starts or ends has the state folder: waiting for it.")
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-waiting.Done():
			return err
		}
	}
}

// mcpThere is the door of a host that runs.
func (a *app) mcpThere(ctx context.Context, to door) error {
	c, err := mcp.Dial(ctx, mcp.ClientOptions{URL: to.url, Token: to.token, Version: buildVersion()})
	if err != nil {
		return at(to, err)
	}
	defer c.Close()
	door, err := c.Proxy(ctx, mcp.Options{})
	if err != nil {
		return at(to, err)
	}
	return door.ServeStdio(ctx, a.in, nopCloser{a.out})
}

// mcpHere starts a host for as long as the agent speaks.
func (a *app) mcpHere(ctx context.Context, o hosting) (err error) {
	s, err := a.start(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	settling, settled := context.WithTimeout(ctx, 5*time.Second) // an agent does not wait for long
	defer settled()
	for _, note := range append(s.notes, s.carried.settle(settling)...) {
		fmt.Fprintln(a.errs, "Note:", printableLines(note))
	}
	fmt.Fprintf(a.errs, "No host was running: this one is at\n  %s\n", s.endpoint.Link)
	served := make(chan error, 1)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() { served <- s.host.Serve(serving, s.ln) }()
	err = s.host.ServeStdio(ctx, a.in, nopCloser{a.out})
	stop() // the agent is gone, or its last call is answered: now the host may go
	return errors.Join(err, <-served)
}

// nopCloser keeps the library from closing the process's own standard output.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
