package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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

// extensionTimeout is how long an agent waits for extensions before it is served.
const extensionTimeout = 5 * time.Second

// ServeStdio starts the host, serves MCP on standard streams until the agent leaves or ctx
// is canceled, and ends the host. Its error matches statedir.ErrInUse if another host has
// the state folder.
func (s *Stdio) ServeStdio(ctx context.Context, env *term.Env) (err error) {
	h, err := start(env, s.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.end()) }()
	waiting, cancel := context.WithTimeout(ctx, extensionTimeout)
	defer cancel()
	for _, note := range append(h.notes, h.apps.wait(waiting)...) {
		env.Note(note)
	}
	fmt.Fprintf(env.Err, "No host was running. Started one at\n  %s\n", h.endpoint.Link)
	served := make(chan error, 1)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() { served <- h.host.Serve(serving, h.ln) }()
	if !s.noBrowse {
		browsing, done := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer done()
		wg.Go(func() { browse(browsing, env, h.host) })
	}
	err = h.host.ServeStdio(ctx, env.In, term.NopCloser(env.Out))
	stop() // the agent has left, or its last call is answered
	return errors.Join(err, <-served)
}
