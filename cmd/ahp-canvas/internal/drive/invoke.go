package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// invokeArgs are the arguments of invoke_canvas_action.
type invokeArgs struct {
	Session    string    `json:"session,omitzero"`
	InstanceID string    `json:"instanceId"`
	ActionName string    `json:"actionName"`
	Input      ahp.Value `json:"input,omitzero"`
}

func invokeCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	var input inputFlags
	cmd := &cobra.Command{
		Use:   "invoke INSTANCE ACTION",
		Short: "Run an action of an open canvas",
		Long: `Run an action of an open canvas and print its result. INSTANCE is the canvas's
name in the column OPEN of ahp-canvas ls, and ACTION one of its actions there.

With --json the output is {"value": …}, or {} if the action has no result.`,
		Example: `  ahp-canvas invoke board add_card --input '{"list":"To do","title":"Buy milk"}'
  ahp-canvas invoke board add_card -f list="To do" -f title="Buy milk"
  ahp-canvas invoke board add_card --input @card.json`,
		Args:              term.Args("INSTANCE", "ACTION"),
		ValidArgsFunction: completer{env, &to}.args(instanceIDs, actionNames),
		RunE: term.Run(func(ctx context.Context, args []string) error {
			return invoke(ctx, env, to, invokeArgs{to.Session, args[0], args[1], nil}, input)
		}),
	}
	input.flags(cmd)
	flags(cmd, env, &to)
	return cmd
}

func invoke(ctx context.Context, env *term.Env, to reach.Target, args invokeArgs, input inputFlags) error {
	r := ofInstance(env, to, args.InstanceID, args.ActionName)
	r.input = input
	value, err := r.call(ctx, mcp.ToolInvoke, func(_ *mcp.Client, in ahp.Value) (any, error) {
		args.Input = in
		return args, nil
	})
	if err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(value)
	}
	var result struct {
		Value ahp.Value `json:"value,omitzero"`
	}
	if err := reach.Decode(mcp.ToolInvoke, value, &result); err != nil || result.Value == nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, result.Value, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Out, term.JSONFor(env.Out, pretty.String()))
	return err
}
