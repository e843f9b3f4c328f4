package drive

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// completionTimeout is how long a shell waits for the running host.
const completionTimeout = 2 * time.Second

// candidates lists what a running host has for one argument of a command line.
type candidates func(ctx context.Context, c *mcp.Client, uri string, args []string) []cobra.Completion

// completer completes a command line from the host that it names.
type completer struct {
	env *term.Env
	to  *reach.Target // filled in when flags are parsed
}

// args completes arguments, each with its own candidates.
func (p completer) args(by ...candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(by) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.list(cmd, args, prefix, by[len(args)]), cobra.ShellCompDirectiveNoFileComp
	}
}

// flag completes the value of a flag.
func (p completer) flag(cmd *cobra.Command, flag string, by candidates) {
	term.Must(cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.list(cmd, args, prefix, by), cobra.ShellCompDirectiveNoFileComp
	}))
}

// list returns no candidates if there is no host: a shell has no place for an error.
func (p completer) list(cmd *cobra.Command, args []string, prefix string, by candidates) []cobra.Completion {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	c, err := p.to.Dial(ctx, p.env)
	if err != nil {
		return nil
	}
	defer c.Close()
	return slices.DeleteFunc(by(ctx, c, p.to.Session, args), func(w cobra.Completion) bool { return !strings.HasPrefix(w, prefix) })
}

func canvasIDs(ctx context.Context, c *mcp.Client, uri string, _ []string) []cobra.Completion {
	var all []cobra.Completion
	declared, _ := listDeclared(ctx, c, uri)
	for _, d := range declared {
		all = append(all, cobra.CompletionWithDesc(term.Printable(d.CanvasID), term.Printable(d.DisplayName)))
	}
	return all
}

func extensionIDs(ctx context.Context, c *mcp.Client, uri string, args []string) []cobra.Completion {
	var all []cobra.Completion
	declared, _ := listDeclared(ctx, c, uri)
	for _, d := range declared {
		if len(args) == 0 || args[0] == d.CanvasID {
			all = append(all, term.Printable(d.ExtensionID))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func instanceIDs(ctx context.Context, c *mcp.Client, uri string, _ []string) []cobra.Completion {
	var all []cobra.Completion
	open, _ := listOpen(ctx, c, uri)
	for _, o := range open {
		all = append(all, cobra.CompletionWithDesc(term.Printable(o.InstanceID), term.Printable(titleOf(o))))
	}
	return all
}

// actionNames lists the actions of the instance that the first argument names.
func actionNames(ctx context.Context, c *mcp.Client, uri string, args []string) []cobra.Completion {
	var all []cobra.Completion
	for _, action := range actionsOf(ctx, c, uri, args[0]) {
		all = append(all, cobra.CompletionWithDesc(term.Printable(action.Name), term.Printable(action.Description)))
	}
	return all
}

// actionsOf returns the actions of an instance; none if the host does not answer.
func actionsOf(ctx context.Context, c *mcp.Client, uri, instanceID string) []session.SessionCanvasAction {
	open, _ := listOpen(ctx, c, uri)
	i := slices.IndexFunc(open, func(o session.OpenCanvasRef) bool { return o.InstanceID == instanceID })
	if i < 0 {
		return nil
	}
	var all []session.SessionCanvasAction
	declared, _ := listDeclared(ctx, c, uri)
	for _, d := range declared {
		if d.CanvasID == open[i].CanvasID && d.ExtensionID == open[i].ExtensionID {
			all = append(all, d.Actions...)
		}
	}
	return all
}
