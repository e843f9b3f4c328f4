package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// sessionArgs are the arguments of the listing tools.
type sessionArgs struct {
	Session string `json:"session,omitzero"`
}

func (a *app) lsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List what can be opened, and what is open",
		Long: `List the canvases that can be opened, with their actions, and those that are
open.

With --json each line is one object: {"type":"canvas", …} with the schemas of
inputs for what can be opened, {"type":"open", …} for what is open. Of a host
that shows extensions or web apps of its machine,
{"type":"host","content":"channel"} says how their pages come: over the host's
channel, or "direct".`,
		Args: takes(),
		RunE: does(func(ctx context.Context, _ []string) error { return a.ls(ctx) }),
	}
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	a.sessionFlag(cmd)
	return cmd
}

func (a *app) ls(ctx context.Context) error {
	waited := a.progress("Waiting for the host")
	defer waited()
	c, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var all struct {
		Canvases []session.SessionCanvasDeclaration `json:"canvases"`
	}
	var open struct {
		Canvases []session.OpenCanvasRef `json:"openCanvases"`
	}
	if err := into(ctx, c, mcp.ToolList, sessionArgs{a.to.session}, &all); err != nil {
		return err
	}
	if err := into(ctx, c, mcp.ToolListOpen, sessionArgs{a.to.session}, &open); err != nil {
		return err
	}
	waited()
	if a.json {
		if err := a.lsLines(all.Canvases, open.Canvases); err != nil {
			return err
		}
	} else {
		a.lsTables(all.Canvases, open.Canvases)
	}
	return a.lsContent()
}

func (a *app) lsLines(all []session.SessionCanvasDeclaration, open []session.OpenCanvasRef) error {
	for _, d := range all {
		if err := printLine(a.out, typed("canvas", d)); err != nil {
			return err
		}
	}
	for _, o := range open {
		if err := printLine(a.out, typed("open", o)); err != nil {
			return err
		}
	}
	return nil
}

// typed puts a type before the members of an object.
func typed(tag string, v any) ahp.Value {
	object := ahp.MustMarshal(v)
	return ahp.Value(`{"type":"` + tag + `",` + strings.TrimPrefix(string(object), "{"))
}

func (a *app) lsTables(all []session.SessionCanvasDeclaration, open []session.OpenCanvasRef) {
	canvases := table{head: []string{"CANVAS", "EXTENSION", "NAME", "ACTIONS"}}
	for _, d := range all {
		var actions []string
		for _, action := range d.Actions {
			actions = append(actions, action.Name)
		}
		first, more := wrap(actions, 48) // with the columns before it, a terminal's 80
		canvases.add(d.CanvasID, d.ExtensionID, d.DisplayName, first)
		for _, line := range more {
			canvases.add("", "", "", line)
		}
	}
	instances := table{head: []string{"OPEN", "CANVAS", "STATE", "TITLE"}}
	for _, o := range open {
		title := ""
		if o.Title != nil {
			title = *o.Title
		}
		instances.add(o.InstanceID, o.CanvasID, string(o.Availability), title)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.out, "No canvas can be opened.")
	} else {
		canvases.print(a.out)
	}
	fmt.Fprintln(a.out)
	if len(open) == 0 {
		fmt.Fprintln(a.out, "None is open.")
	} else {
		instances.print(a.out)
	}
}
