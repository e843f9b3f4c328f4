package drive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func lsCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List canvases that can be opened, and open ones",
		Long: `List the canvases that can be opened, with their actions, and the open ones.

With --json each line is one object: {"type":"canvas", …}, with the schemas of
inputs, for a canvas that can be opened, and {"type":"open", …} for an open one.
If the host runs extensions or web apps, the last line is
{"type":"host","content":…}. It says how their pages reach people: "channel"
means through the host, "direct" means from the host's machine.`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return ls(ctx, env, to) }),
	}
	flags(cmd, env, &to)
	return cmd
}

func ls(ctx context.Context, env *term.Env, to reach.Target) error {
	done := env.Progress("Waiting for the host")
	defer done()
	h, err := to.Resolve(env)
	if err != nil {
		return err
	}
	c, err := h.Dial(ctx, env)
	if err != nil {
		return err
	}
	defer c.Close()
	declared, err := listDeclared(ctx, c, to.Session)
	if err != nil {
		return err
	}
	open, err := listOpen(ctx, c, to.Session)
	if err != nil {
		return err
	}
	done()
	if env.JSON {
		if err := printLines(env, declared, open); err != nil {
			return err
		}
	} else {
		printTables(env, declared, open)
	}
	return printContent(env, h.Content)
}

// listArgs are the arguments of list_open_canvases.
type listArgs struct {
	Session string `json:"session,omitzero"`
}

// capabilitiesArgs are the arguments of list_canvas_capabilities.
type capabilitiesArgs struct {
	Session  string `json:"session,omitzero"`
	Describe string `json:"describe"`
}

func listDeclared(ctx context.Context, c *mcp.Client, uri string) ([]session.SessionCanvasDeclaration, error) {
	var result struct {
		Canvases []session.SessionCanvasDeclaration `json:"canvases"`
	}
	err := reach.CallInto(ctx, c, mcp.ToolList, capabilitiesArgs{uri, mcp.DescribeAll}, &result)
	if e, ok := errors.AsType[*canvas.Error](err); ok && e.Path == "/describe" { // an older host, which always describes all
		err = reach.CallInto(ctx, c, mcp.ToolList, listArgs{uri}, &result)
	}
	return result.Canvases, err
}

func listOpen(ctx context.Context, c *mcp.Client, uri string) ([]session.OpenCanvasRef, error) {
	var result struct {
		Canvases []session.OpenCanvasRef `json:"openCanvases"`
	}
	err := reach.CallInto(ctx, c, mcp.ToolListOpen, listArgs{uri}, &result)
	return result.Canvases, err
}

func printLines(env *term.Env, declared []session.SessionCanvasDeclaration, open []session.OpenCanvasRef) error {
	for _, d := range declared {
		if err := env.PrintJSON(withType("canvas", d)); err != nil {
			return err
		}
	}
	for _, o := range open {
		if err := env.PrintJSON(withType("open", o)); err != nil {
			return err
		}
	}
	return nil
}

// withType puts a type before the members of an object.
func withType(name string, v any) ahp.Value {
	object := ahp.MustMarshal(v)
	return ahp.Value(`{"type":"` + name + `",` + strings.TrimPrefix(string(object), "{"))
}

// actionsWidth leaves a terminal's 80 columns to the usual length of the cells before it.
const actionsWidth = 48

func printTables(env *term.Env, declared []session.SessionCanvasDeclaration, open []session.OpenCanvasRef) {
	canvases := term.Table{Head: []string{"CANVAS", "EXTENSION", "NAME", "ACTIONS"}}
	for _, d := range declared {
		var actions []string
		for _, action := range d.Actions {
			actions = append(actions, action.Name)
		}
		first, more := term.Wrap(actions, actionsWidth)
		canvases.Add(d.CanvasID, d.ExtensionID, d.DisplayName, first)
		for _, line := range more {
			canvases.Add("", "", "", line)
		}
	}
	instances := term.Table{Head: []string{"OPEN", "CANVAS", "STATE", "TITLE"}}
	for _, o := range open {
		instances.Add(o.InstanceID, o.CanvasID, string(o.Availability), titleOf(o))
	}
	if len(declared) == 0 {
		fmt.Fprintln(env.Out, "The host has no canvases.")
	} else {
		canvases.Print(env.Out)
	}
	fmt.Fprintln(env.Out)
	if len(open) == 0 {
		fmt.Fprintln(env.Out, "No canvas is open.")
	} else {
		instances.Print(env.Out)
	}
}

func titleOf(o session.OpenCanvasRef) string {
	if o.Title == nil {
		return ""
	}
	return *o.Title
}

// hostLine is the last line of ls --json.
type hostLine struct {
	Content string `json:"content"`
}

// printContent prints how pages of extensions and web apps reach people, if the host has
// any.
func printContent(env *term.Env, content string) error {
	if content == "" {
		return nil
	}
	if env.JSON {
		return env.PrintJSON(withType("host", hostLine{content}))
	}
	text := "Pages of extensions and web apps go through the host."
	if content == reach.ContentDirect {
		text = "Pages of extensions and web apps are loaded from the host's machine."
	}
	_, err := fmt.Fprintf(env.Out, "\nContent: %s. %s\n", term.Printable(content), text)
	return err
}
