package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Command returns serve.
func Command(env *term.Env) *cobra.Command {
	var o options
	var open []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start a host and print its link",
		Long: `Start a host and print the link that opens its page.

Without --open, the host opens every folder of --canvas and --actions-page,
every web app of --canvas-url, and the first canvas of each extension that
--extension names. If there are none of these, it opens the bundled board.
Agents connect to the printed MCP address, or run "ahp-canvas mcp". If a web app
does not run yet, its canvas opens as soon as it does.

With --json the first line is one object:
  {"link","page","ahp","mcp","viewToken","agentToken","session","pid"}
and with --actions-bridge also "actionsBridge".

The first SIGINT or SIGTERM stops the host after it has answered the requests
that it accepted. A second one stops it immediately.`,
		Example: `  ahp-canvas serve
  ahp-canvas serve --canvas ./dist
  ahp-canvas serve --state memory --json`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return serve(ctx, env, o, open) }),
	}
	o.hostFlags(cmd)
	cmd.Flags().BoolVar(&o.browse, "browse", false, "open the browser when the first canvas opens")
	o.uplinkFlags(cmd)
	cmd.Flags().StringArrayVar(&open, "open", nil, "`canvas` to open at start, as an instance of the same name (repeatable)")
	env.JSONFlag(cmd)
	return cmd
}

// serve runs a host until ctx is canceled and it has answered what it accepted.
func serve(ctx context.Context, env *term.Env, o options, open []string) (err error) {
	useProcessors()
	line := env.StatusLine()
	if err := o.uplink.load(); err != nil {
		return err
	}
	h, err := start(env, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.end()) }()
	if line != nil {
		defer context.AfterFunc(ctx, func() { fmt.Fprintln(env.Err, "\nStopping. Press Ctrl-C again to stop immediately.") })()
	}
	defer env.Manager.StoppingOn(ctx)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var limiting sync.WaitGroup
	defer limiting.Wait()
	defer stop()
	limiting.Go(func() { limitMemory(ctx, h.host) })
	served := make(chan error, 1)
	go func() { served <- h.host.Serve(ctx, h.ln) }()
	wait, err := o.uplink.start(ctx, stop, h.host, h.tracer, env.Logger(o.logLevel))
	if err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	defer func() { stop(); err = errors.Join(err, wait()) }()
	if err := h.show(ctx, env, open); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	if o.browse {
		wg.Go(func() { browse(ctx, env, h.host) })
	}
	wg.Go(func() { h.awaitLate(ctx, env, len(open) == 0) })
	for _, w := range h.awaited {
		wg.Go(func() { h.openWhenReachable(ctx, env, w) })
	}
	if line != nil {
		wg.Go(func() { followStatus(ctx, line, h.host, o.uplink.status) })
	}
	return <-served
}

// show opens the canvases of --open, or the default ones, and prints where the host is.
func (h *hosted) show(ctx context.Context, env *term.Env, open []string) (err error) {
	h.notes = append(h.notes, h.apps.wait(ctx)...)
	if len(open) == 0 {
		open, err = h.openDefaults(ctx)
	} else {
		err = h.openAll(ctx, "--open", open)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	env.Manager.Ready("serving " + h.endpoint.Page)
	return h.greet(env, open)
}

// greet prints where the host is: one JSON line for a script, only the link if standard
// output is no terminal, and a few lines for a person.
func (h *hosted) greet(env *term.Env, open []string) error {
	for _, note := range h.notes {
		env.Note(note)
	}
	if env.JSON {
		return env.PrintJSON(h.endpoint)
	}
	if !term.IsTerminal(env.Out) {
		_, err := fmt.Fprintln(env.Out, h.endpoint.Link)
		return err
	}
	_, err := fmt.Fprintf(env.Out, `
  Open this link in a browser:

  %s

  name     %s
  showing  %s
  agents   %s  (or: ahp-canvas mcp)
  stop     Ctrl-C

`, h.endpoint.Link, h.name, term.Printable(strings.Join(open, ", ")), h.endpoint.MCP)
	return err
}
