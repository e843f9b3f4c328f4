package drive

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// openArgs are the arguments of open_canvas.
type openArgs struct {
	Session     string    `json:"session,omitzero"`
	ExtensionID string    `json:"extensionId,omitzero"`
	CanvasID    string    `json:"canvasId"`
	InstanceID  string    `json:"instanceId,omitzero"`
	Input       ahp.Value `json:"input,omitzero"`
}

// openResult is the part of open_canvas's result that is printed for people.
type openResult struct {
	InstanceID   string `json:"instanceId"`
	CanvasID     string `json:"canvasId"`
	Availability string `json:"availability"`
	Title        string `json:"title,omitzero"`
	Link         string `json:"link,omitzero"`
}

func openCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	var args openArgs
	var input inputFlags
	complete := completer{env, &to}
	cmd := &cobra.Command{
		Use:   "open CANVAS",
		Short: "Open a canvas, or update an open one",
		Long: `Open a canvas, or update an open one.

Opening the same canvas with the same --instance again is safe: the same input
changes nothing, and another input updates the open canvas.

CANVAS is a name in the column CANVAS of ahp-canvas ls. With --json the output
is one object with the instance, its title and state, and the link of the page.`,
		Example: `  ahp-canvas open board
  ahp-canvas open board --instance sprint -f title="Sprint 12"
  ahp-canvas open chart --input @chart.json`,
		Args:              term.Args("CANVAS"),
		ValidArgsFunction: complete.args(canvasIDs),
		RunE: term.Run(func(ctx context.Context, names []string) error {
			args.CanvasID, args.Session = names[0], to.Session
			return open(ctx, env, to, args, input)
		}),
	}
	cmd.Flags().StringVar(&args.ExtensionID, "extension", "", "`extension` that provides the canvas, if several do")
	cmd.Flags().StringVar(&args.InstanceID, "instance", "", "`name` for the open canvas (default: a new one, such as board-k7m3)")
	complete.flag(cmd, "extension", extensionIDs)
	complete.flag(cmd, "instance", instanceIDs)
	input.flags(cmd)
	flags(cmd, env, &to)
	return cmd
}

func open(ctx context.Context, env *term.Env, to reach.Target, args openArgs, input inputFlags) error {
	about := ofCanvas(env, to, args.ExtensionID, args.CanvasID)
	about.input = input
	value, err := about.call(ctx, mcp.ToolOpen, func(c *mcp.Client, in ahp.Value) (any, error) {
		args.Input = in
		if args.InstanceID != "" {
			return args, nil
		}
		open, err := listOpen(ctx, c, to.Session)
		args.InstanceID = newInstance(args.CanvasID, open)
		return args, err
	})
	if err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(value)
	}
	var r openResult
	if err := reach.Decode(mcp.ToolOpen, value, &r); err != nil {
		return err
	}
	t := term.Table{Head: []string{"OPEN", "CANVAS", "STATE", "TITLE"}}
	t.Add(r.InstanceID, r.CanvasID, r.Availability, r.Title)
	t.Print(env.Out)
	if r.Link != "" {
		fmt.Fprintf(env.Out, "\n%s\n", term.Printable(r.Link))
	}
	return nil
}
