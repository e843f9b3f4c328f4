package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// openArgs are the arguments of open_canvas.
type openArgs struct {
	Session     string    `json:"session,omitzero"`
	ExtensionID string    `json:"extensionId,omitzero"`
	CanvasID    string    `json:"canvasId"`
	InstanceID  string    `json:"instanceId,omitzero"`
	Input       ahp.Value `json:"input,omitzero"`
}

// opened is what open_canvas answers, as far as a person is told.
type opened struct {
	InstanceID   string `json:"instanceId"`
	CanvasID     string `json:"canvasId"`
	Availability string `json:"availability"`
	Title        string `json:"title,omitzero"`
	Link         string `json:"link,omitzero"`
}

func (a *app) openCommand() *cobra.Command {
	var args openArgs
	var input string
	cmd := &cobra.Command{
		Use:   "open CANVAS",
		Short: "Open a canvas, or update one that is open",
		Long: `Open a canvas, or update one that is open.

Opening the same canvas under the same --instance again is safe: an equal input
changes nothing, another input updates the panel in place.`,
		Example: `  ahp-canvas open board
  ahp-canvas open board --instance sprint --input '{"title":"Sprint 12"}'`,
		Args:              takes("CANVAS"),
		ValidArgsFunction: a.completes(a.canvasIDs),
		RunE: does(func(ctx context.Context, names []string) error {
			args.CanvasID = names[0]
			return a.open(ctx, args, input)
		}),
	}
	cmd.Flags().StringVar(&args.ExtensionID, "extension", "", "who provides it, where two have the same canvas")
	cmd.Flags().StringVar(&args.InstanceID, "instance", "", "the panel's name (default: a fresh one)")
	a.completesFlag(cmd, "extension", a.extensionIDs)
	a.completesFlag(cmd, "instance", a.instanceIDs)
	inputFlag(cmd, &input)
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	a.sessionFlag(cmd)
	return cmd
}

func (a *app) open(ctx context.Context, args openArgs, input string) error {
	var err error
	if args.Input, err = a.readInput(input); err != nil {
		return err
	}
	args.Session = a.to.session
	value, err := a.call(ctx, mcp.ToolOpen, args)
	if err != nil {
		return err
	}
	if a.json {
		return printLine(a.out, value)
	}
	var o opened
	if err := decode(mcp.ToolOpen, value, &o); err != nil {
		return err
	}
	t := table{head: []string{"OPEN", "CANVAS", "STATE", "TITLE"}}
	t.add(o.InstanceID, o.CanvasID, o.Availability, o.Title)
	t.print(a.out)
	if o.Link != "" {
		fmt.Fprintf(a.out, "\n%s\n", printable(o.Link))
	}
	return nil
}
