package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// completePatience is how long a shell waits for words of the running host.
const completePatience = 2 * time.Second

// words are what a running host has for one argument of a command line.
type words func(ctx context.Context, c *mcp.Client, args []string) []cobra.Completion

// completes completes arguments, one after the other, with words of the running
// host. Without one there is nothing to complete, and no error: a shell has no
// place for it.
func (a *app) completes(by ...words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(by) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.ask(cmd, args, begun, by[len(args)]), cobra.ShellCompDirectiveNoFileComp
	}
}

// completesFlag does the same for the value of a flag.
func (a *app) completesFlag(cmd *cobra.Command, flag string, by words) {
	must(cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.ask(cmd, args, begun, by), cobra.ShellCompDirectiveNoFileComp
	}))
}

func (a *app) ask(cmd *cobra.Command, args []string, begun string, by words) []cobra.Completion {
	ctx, cancel := context.WithTimeout(cmd.Context(), completePatience)
	defer cancel()
	c, err := a.dial(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	return slices.DeleteFunc(by(ctx, c, args), func(w cobra.Completion) bool { return !strings.HasPrefix(w, begun) })
}

func (a *app) canvasIDs(ctx context.Context, c *mcp.Client, _ []string) []cobra.Completion {
	var all []cobra.Completion
	for _, d := range a.declared(ctx, c) {
		all = append(all, cobra.CompletionWithDesc(printable(d.CanvasID), printable(d.DisplayName)))
	}
	return all
}

func (a *app) extensionIDs(ctx context.Context, c *mcp.Client, args []string) []cobra.Completion {
	var all []cobra.Completion
	for _, d := range a.declared(ctx, c) {
		if len(args) == 0 || args[0] == d.CanvasID {
			all = append(all, printable(d.ExtensionID))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (a *app) instanceIDs(ctx context.Context, c *mcp.Client, _ []string) []cobra.Completion {
	var all []cobra.Completion
	for _, o := range a.opened(ctx, c) {
		title := ""
		if o.Title != nil {
			title = *o.Title
		}
		all = append(all, cobra.CompletionWithDesc(printable(o.InstanceID), printable(title)))
	}
	return all
}

// actionNames are the actions of the instance that the first argument names.
func (a *app) actionNames(ctx context.Context, c *mcp.Client, args []string) []cobra.Completion {
	open := a.opened(ctx, c)
	i := slices.IndexFunc(open, func(o session.OpenCanvasRef) bool { return o.InstanceID == args[0] })
	if i < 0 {
		return nil
	}
	var all []cobra.Completion
	for _, d := range a.declared(ctx, c) {
		if d.CanvasID != open[i].CanvasID || d.ExtensionID != open[i].ExtensionID {
			continue
		}
		for _, action := range d.Actions {
			all = append(all, cobra.CompletionWithDesc(printable(action.Name), printable(action.Description)))
		}
	}
	return all
}

// declared and opened answer nothing where the host does not.
func (a *app) declared(ctx context.Context, c *mcp.Client) []session.SessionCanvasDeclaration {
	var all struct {
		Canvases []session.SessionCanvasDeclaration `json:"canvases"`
	}
	_ = into(ctx, c, mcp.ToolList, sessionArgs{a.to.session}, &all)
	return all.Canvases
}

func (a *app) opened(ctx context.Context, c *mcp.Client) []session.OpenCanvasRef {
	var open struct {
		Canvases []session.OpenCanvasRef `json:"openCanvases"`
	}
	_ = into(ctx, c, mcp.ToolListOpen, sessionArgs{a.to.session}, &open)
	return open.Canvases
}

// must is for mistakes of this program that its first start shows.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
