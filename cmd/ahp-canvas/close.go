package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// closeArgs are the arguments of close_canvas.
type closeArgs struct {
	Session    string `json:"session,omitzero"`
	InstanceID string `json:"instanceId"`
}

func (a *app) closeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "close INSTANCE",
		Short: "Close an open canvas",
		Args:  takes("INSTANCE"),

		ValidArgsFunction: a.completes(a.instanceIDs),
		RunE: does(func(ctx context.Context, args []string) error {
			value, err := a.call(ctx, mcp.ToolClose, closeArgs{a.to.session, args[0]})
			if err != nil {
				return err
			}
			if a.json {
				return printLine(a.out, value)
			}
			_, err = fmt.Fprintf(a.out, "Closed %s.\n", printable(args[0]))
			return err
		}),
	}
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	a.sessionFlag(cmd)
	return cmd
}
