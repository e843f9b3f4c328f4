package drive

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// pollTime is how long one call waits. It is shorter than a host's own limit, so that the
// host never cuts a call off.
const pollTime = 25 * time.Second

// waitArgs are the arguments of wait_for_canvas_events.
type waitArgs struct {
	Session string  `json:"session,omitzero"`
	After   int64   `json:"after"`   // 0 is the beginning; without it the host would leave old events out
	Timeout float64 `json:"timeout"` // in seconds
}

// eventsOptions are the flags of events.
type eventsOptions struct {
	after   int64
	follow  bool
	timeout time.Duration
}

func eventsCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	var o eventsOptions
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print what people did in canvases",
		Long: `Print the events of a session, the oldest first: what people did in canvases, as
far as the canvases report it to the agent. The host keeps the newest events in
memory.

With --json each line is one object: {"type":"event","cursor",…} for an event,
or {"type":"dropped","count"} if events were dropped before they were read. To
continue later, give the cursor of the last line to --after.`,
		Example: `  ahp-canvas events
  ahp-canvas events --follow --json
  ahp-canvas events --after 12 --timeout 1m`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error {
			if o.after < 0 || o.timeout < 0 {
				return term.Usagef("--after and --timeout cannot be negative")
			}
			return events(ctx, env, to, o)
		}),
	}
	f := cmd.Flags()
	f.Int64Var(&o.after, "after", 0, "print only events after this `cursor` (0 is the beginning)")
	f.BoolVar(&o.follow, "follow", false, "keep printing new events until Ctrl-C")
	f.DurationVar(&o.timeout, "timeout", 0, "`time` to wait for an event, as in 30s (default: do not wait; with --follow, wait forever)")
	flags(cmd, env, &to)
	return cmd
}

// events prints pages of events until there are no more or ctx is canceled: Ctrl-C is not
// a failure here.
func events(ctx context.Context, env *term.Env, to reach.Target, o eventsOptions) error {
	err := pollEvents(ctx, env, to, o)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func pollEvents(ctx context.Context, env *term.Env, to reach.Target, o eventsOptions) error {
	h, err := to.Resolve(env)
	if err != nil {
		return err
	}
	c, err := h.Dial(ctx, env)
	if err != nil {
		return err
	}
	defer c.Close()
	if o.follow || o.timeout > 0 {
		env.Hint("Waiting for what people do in the canvases of " + h.Address() + ". Ctrl-C ends it.")
	}
	last := time.Now() // when the last event came
	for {
		wait := pollTime
		if !o.follow || o.timeout > 0 {
			wait = max(0, min(wait, o.timeout-time.Since(last)))
		}
		var page canvas.EventPage
		if err := reach.CallInto(ctx, c, mcp.ToolWait, waitArgs{to.Session, o.after, wait.Seconds()}, &page); err != nil {
			return err
		}
		if err := printEvents(env, page); err != nil {
			return err
		}
		got := len(page.Events) > 0 || page.Dropped > 0
		switch {
		case got && !o.follow:
			return nil
		case got:
			last = time.Now()
		case wait == 0:
			return printNoEvents(env, o)
		}
		o.after = page.Next
	}
}

func printNoEvents(env *term.Env, o eventsOptions) error {
	if env.JSON || o.follow {
		return nil
	}
	_, err := fmt.Fprintln(env.Out, "No events.")
	return err
}

// eventLine is an event with --json. Its cursor is the one after it.
type eventLine struct {
	Cursor int64 `json:"cursor"`
	canvas.Event
}

// droppedLine counts lost events with --json.
type droppedLine struct {
	Count int64 `json:"count"`
}

func printEvents(env *term.Env, page canvas.EventPage) error {
	if page.Dropped > 0 {
		if err := printDropped(env, page.Dropped); err != nil {
			return err
		}
	}
	first := page.Next - int64(len(page.Events))
	for i, e := range page.Events {
		cursor := first + int64(i) + 1 // as older hosts count, whose events have no cursor
		if e.Cursor > 0 {
			cursor = e.Cursor
		}
		if err := printEvent(env, cursor, e); err != nil {
			return err
		}
	}
	return nil
}

func printEvent(env *term.Env, cursor int64, e canvas.Event) error {
	if env.JSON {
		return env.PrintJSON(withType("event", eventLine{cursor, e}))
	}
	_, err := fmt.Fprintf(env.Out, "%s  %s  %s\n", clock(e.Time), term.Printable(e.InstanceID), term.Printable(string(e.Event)))
	return err
}

func printDropped(env *term.Env, n int64) error {
	if env.JSON {
		return env.PrintJSON(withType("dropped", droppedLine{n}))
	}
	env.Note(term.Count(int(n), "earlier event was", "earlier events were") + " lost: the host keeps only the newest.")
	return nil
}

// clock formats a time for people in the local time zone. Text that is not a time is
// returned unchanged.
func clock(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return term.Printable(text)
	}
	return at.Local().Format("15:04:05")
}
