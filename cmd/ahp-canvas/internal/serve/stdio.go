package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Stdio is a host in this process whose agent speaks MCP on standard streams. It
// implements drive.LocalHost.
type Stdio struct {
	options  options
	noBrowse bool
}

// Flags adds the host's flags to a command.
func (s *Stdio) Flags(cmd *cobra.Command) {
	s.options.hostFlags(cmd)
	cmd.Flags().BoolVar(&s.noBrowse, "no-browse", false, "do not open the browser when the first canvas opens")
}

// ServeStdio starts the host, serves MCP on standard streams until the agent leaves or ctx
// is canceled, and ends the host. Its error matches statedir.ErrInUse if another host has
// the state folder.
func (s *Stdio) ServeStdio(ctx context.Context, env *term.Env) (err error) {
	h, err := start(env, s.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.end()) }()
	for _, note := range append(h.notes, h.apps.wait(ctx)...) {
		env.Note(note)
	}
	fmt.Fprintf(env.Err, "No host was running. Started one at\n  %s\n", h.endpoint.Link)
	served := make(chan error, 1)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() { served <- h.host.Serve(serving, h.ln) }()
	beside, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	wg.Go(func() { h.awaitLate(beside, env, false) })
	if !s.noBrowse {
		wg.Go(func() { browse(beside, env, h.host) })
	}
	err = h.host.ServeStdio(ctx, env.In, term.NopCloser(env.Out))
	stop() // the agent has left, or its last call is answered
	return errors.Join(err, <-served)
}
