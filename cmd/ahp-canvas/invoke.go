package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// invokeArgs are the arguments of invoke_canvas_action.
type invokeArgs struct {
	Session    string    `json:"session,omitzero"`
	InstanceID string    `json:"instanceId"`
	ActionName string    `json:"actionName"`
	Input      ahp.Value `json:"input,omitzero"`
}

func (a *app) invokeCommand() *cobra.Command {
	var input string
	cmd := &cobra.Command{
		Use:   "invoke INSTANCE ACTION",
		Short: "Run an action of an open canvas",
		Long: `Run an action of an open canvas and print its value.

With --json the line is {"value": …}, or {} where the action has no value.`,
		Example: `  ahp-canvas invoke board add_card --input '{"list":"To do","title":"Buy milk"}'
  ahp-canvas invoke board add_card --input @card.json`,
		Args:              takes("INSTANCE", "ACTION"),
		ValidArgsFunction: a.completes(a.instanceIDs, a.actionNames),
		RunE: does(func(ctx context.Context, args []string) error {
			return a.invoke(ctx, invokeArgs{a.to.session, args[0], args[1], nil}, input)
		}),
	}
	inputFlag(cmd, &input)
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	a.sessionFlag(cmd)
	return cmd
}

func (a *app) invoke(ctx context.Context, args invokeArgs, input string) error {
	var err error
	if args.Input, err = a.readInput(input); err != nil {
		return err
	}
	value, err := a.call(ctx, mcp.ToolInvoke, args)
	if err != nil {
		return err
	}
	if a.json {
		return printLine(a.out, value)
	}
	var answer struct {
		Value ahp.Value `json:"value,omitzero"`
	}
	if err := decode(mcp.ToolInvoke, value, &answer); err != nil || answer.Value == nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, answer.Value, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, forReader(a.out, pretty.String()))
	return err
}
