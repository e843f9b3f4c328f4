package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	o := hosting{reach: &reach{}}
	var open []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start a host and print its link",
		Long: `Start a host and print the link that a person opens.

Without --open, the folders that --canvas names are opened, the web apps that
--canvas-url names and the first canvas of each extension that --extension
names; and without those the bundled board. Agents enter at the printed MCP
address, or through ahp-canvas mcp.

With --json the first line is one object:
  {"link","page","ahp","mcp","viewToken","agentToken","session","pid"}

The first SIGINT or SIGTERM stops the host after it has answered what it
accepted; a second one stops it at once.`,
		Example: `  ahp-canvas serve
  ahp-canvas serve --canvas ./dist
  ahp-canvas serve --state memory --json`,
		Args: takes(),
		RunE: does(func(ctx context.Context, _ []string) error { return a.serve(ctx, o, open) }),
	}
	o.flags(cmd)
	o.reach.flags(cmd)
	cmd.Flags().StringArrayVar(&open, "open", nil, "canvas to open at start, under its own name (repeatable)")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) serve(ctx context.Context, o hosting, open []string) (err error) {
	line := a.withStatusLine()
	if err := o.reach.load(); err != nil {
		return err
	}
	s, err := a.start(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	if line != nil {
		defer context.AfterFunc(ctx, func() { fmt.Fprintln(a.errs, "\nStopping. Ctrl-C again does not wait.") })()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.host.Serve(ctx, s.ln) }()
	outside, err := o.reach.goOutside(ctx, stop, s.host, newLogger(a.errs, o.logLevel))
	if err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	defer func() { stop(); err = errors.Join(err, outside()) }()
	if err := a.show(ctx, s, open); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	if line != nil {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { line.follow(ctx, s.host, o.reach.words) })
		defer stop()
	}
	return <-served
}

// show opens what is to be seen first, and says where.
func (a *app) show(ctx context.Context, s *started, open []string) (err error) {
	s.notes = append(s.notes, s.carried.settle(ctx)...)
	if len(open) == 0 {
		open, err = s.openShown(ctx)
	} else {
		err = s.openAll(ctx, open)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	return a.greet(s, open)
}

// greet says where the host is: one line for a script, the link alone where
// nobody looks, and a few words for a person.
func (a *app) greet(s *started, open []string) error {
	for _, note := range s.notes {
		fmt.Fprintln(a.errs, "Note:", printableLines(note))
	}
	if a.json {
		return printLine(a.out, s.endpoint)
	}
	if !isTerminal(a.out) {
		_, err := fmt.Fprintln(a.out, s.endpoint.Link)
		return err
	}
	_, err := fmt.Fprintf(a.out, `
  %s

  showing  %s
  agents   %s  (or: ahp-canvas mcp)
  stop     Ctrl-C

`, s.endpoint.Link, printable(strings.Join(open, ", ")), s.endpoint.MCP)
	return err
}
