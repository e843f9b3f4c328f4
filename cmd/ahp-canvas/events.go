package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// pollTime is how long one call waits: below what a host allows, so that the
// host never cuts it.
const pollTime = 25 * time.Second

// waitArgs are the arguments of wait_for_canvas_events.
type waitArgs struct {
	Session string  `json:"session,omitzero"`
	After   int64   `json:"after,omitzero"`
	Timeout float64 `json:"timeout"` // in seconds
}

// listening is what events is asked for.
type listening struct {
	after   int64
	follow  bool
	timeout time.Duration
}

func (a *app) eventsCommand() *cobra.Command {
	var o listening
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print what people did in canvases",
		Long: `Print the events of a session, the oldest first: what people did in canvases, as
far as the canvas tells the agent. A host keeps the newest ones in memory.

With --json each line is one object: {"type":"event","cursor",…} for an event,
and {"type":"dropped","count"} where events were lost before they were read. The
cursor of the last line, given as --after, goes on from there.`,
		Example: `  ahp-canvas events
  ahp-canvas events --follow --json
  ahp-canvas events --after 12 --timeout 1m`,
		Args: takes(),
		RunE: does(func(ctx context.Context, _ []string) error {
			if o.after < 0 || o.timeout < 0 {
				return &usage{text: "--after and --timeout are not below 0"}
			}
			return a.events(ctx, o)
		}),
	}
	f := cmd.Flags()
	f.Int64Var(&o.after, "after", 0, "cursor: print only what came after it (0 is the beginning)")
	f.BoolVar(&o.follow, "follow", false, "go on printing what comes, until Ctrl-C")
	f.DurationVar(&o.timeout, "timeout", 0, "how long to wait for an event, as in 30s (default: not at all; with --follow, for ever)")
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	a.sessionFlag(cmd)
	return cmd
}

// events prints pages until there is no more to print, or the person has seen
// enough: Ctrl-C is no failure here.
func (a *app) events(ctx context.Context, o listening) error {
	c, err := a.dial(ctx)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer c.Close()
	quiet := time.Now() // since when nothing came
	for {
		left := pollTime
		if !o.follow || o.timeout > 0 {
			left = max(0, min(left, o.timeout-time.Since(quiet)))
		}
		var page canvas.EventPage
		if err := into(ctx, c, mcp.ToolWait, waitArgs{a.to.session, o.after, left.Seconds()}, &page); err != nil {
			return unlessEnded(ctx, err)
		}
		if err := a.printEvents(page); err != nil {
			return err
		}
		came := len(page.Events) > 0 || page.Dropped > 0
		switch {
		case came && !o.follow:
			return nil
		case came:
			quiet = time.Now()
		case left == 0:
			return a.nothingCame(o)
		}
		o.after = page.Next
	}
}

func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (a *app) nothingCame(o listening) error {
	if a.json || o.follow {
		return nil
	}
	_, err := fmt.Fprintln(a.out, "No events.")
	return err
}

// eventLine is an event with --json. Its cursor is the one after it.
type eventLine struct {
	Cursor int64 `json:"cursor"`
	canvas.Event
}

// droppedLine says with --json that events were lost.
type droppedLine struct {
	Count int64 `json:"count"`
}

func (a *app) printEvents(page canvas.EventPage) error {
	if page.Dropped > 0 {
		if err := a.printDropped(page.Dropped); err != nil {
			return err
		}
	}
	first := page.Next - int64(len(page.Events))
	for i, e := range page.Events {
		if a.json {
			if err := printLine(a.out, typed("event", eventLine{first + int64(i) + 1, e})); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%s  %s  %s\n", clock(e.Time), printable(e.InstanceID), printable(string(e.Event))); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printDropped(n int64) error {
	if a.json {
		return printLine(a.out, typed("dropped", droppedLine{n}))
	}
	_, err := fmt.Fprintf(a.errs, "Note: %d earlier events are lost: the host keeps only the newest.\n", n)
	return err
}

// clock is a time as a person reads it here; what is no time stays as it is.
func clock(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return printable(text)
	}
	return at.Local().Format("15:04:05")
}
