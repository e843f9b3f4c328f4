package view

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/local"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// localView offers the canvases of a session at URLs of this machine.
type localView struct {
	env       *term.Env
	to        link
	verifier  *proof.Verifier // shared by all connections
	connected func()          // ends the progress
	following context.Context // ends reportConnection
	greeted   sync.Once
	wg        sync.WaitGroup
}

// viewLocal offers canvases until ctx is canceled.
func viewLocal(ctx context.Context, env *term.Env, target reach.Target, text string) error {
	to, err := resolveLink(env, target, text)
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	v := &localView{env: env, to: to, verifier: proof.NewVerifier(to.ahp, to.token, nil), connected: env.Progress("Waiting for the host"), following: following}
	err = local.Run(ctx, local.Options{
		Session: to.session,
		Dial:    v.dial,
		Changed: func(c local.Canvas) {
			if ctx.Err() == nil || env.JSON {
				printCanvas(env, c)
			}
		},
	})
	stop()
	v.wg.Wait()
	switch {
	case ctx.Err() == nil && err != nil:
		return to.explain(err)
	case ctx.Err() != nil && !env.JSON:
		fmt.Fprintln(env.Err, "\nThe URLs no longer work. The canvases stay open at the host.")
	}
	return nil
}

// dial connects to the host. The first connection follows the session, so it is the one
// whose state is reported.
func (v *localView) dial(ctx context.Context, uris ...string) (*client.Client, error) {
	c, err := client.Dial(ctx, v.to.ahp, client.Options{Token: v.to.token, HostToken: v.to.hostToken, Verifier: v.verifier, Seal: v.to.seal, Subscriptions: uris, Backoff: client.NewBackoff()})
	v.connected()
	if err == nil {
		v.greeted.Do(func() {
			greet(v.env, c, v.to.session)
			v.wg.Go(func() { reportConnection(v.following, v.env, c) })
		})
	}
	return c, err
}

func greet(env *term.Env, c *client.Client, uri string) {
	if env.JSON {
		return
	}
	s, ok := c.Session(uri)
	if !ok {
		return // Run returns an error for that
	}
	fmt.Fprintln(env.Err, "Each open canvas has a URL on this machine. Press Ctrl-C to stop.")
	if len(s.OpenCanvases) == 0 {
		fmt.Fprintln(env.Err, "No canvas is open yet. New ones appear here.")
	}
}

// reportConnection prints when the connection is lost and when it is back, until ctx is
// canceled.
func reportConnection(ctx context.Context, env *term.Env, c *client.Client) {
	if env.JSON {
		return
	}
	ticks := time.NewTicker(checkInterval)
	defer ticks.Stop()
	for connected := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if now := c.Err() == nil; now != connected {
			connected = now
			fmt.Fprintln(env.Err, connectionText(connected))
		}
	}
}

// printCanvas prints a canvas that is offered, has changed or is closed.
func printCanvas(env *term.Env, c local.Canvas) {
	if env.JSON {
		_ = env.PrintJSON(c) // if the reader has gone, the next write ends the program
		return
	}
	state := string(c.Availability)
	switch {
	case c.Closed:
		state = "closed"
	case c.Availability == session.Stale:
		state = "stale: its provider is not connected"
	}
	if c.OtherOrigins && !c.Closed {
		state += "; loads nothing from other origins here, though its host allows some"
	}
	fmt.Fprintf(env.Out, "%-16s %-40s %s  %s\n", term.Printable(c.InstanceID), term.Printable(cmp.Or(c.URL, "-")), term.Printable(state), term.Printable(c.Title))
}
