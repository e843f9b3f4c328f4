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

// closeArgs are the arguments of close_canvas.
type closeArgs struct {
	Session    string `json:"session,omitzero"`
	InstanceID string `json:"instanceId"`
}

func closeCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "close INSTANCE",
		Short: "Close an open canvas",
		Long: `Close an open canvas. INSTANCE is its name in the column OPEN of ahp-canvas ls.

With --json the output is {"instanceId","closed"}.`,
		Example:           "  ahp-canvas close board",
		Args:              term.Args("INSTANCE"),
		ValidArgsFunction: completer{env, &to}.args(instanceIDs),
		RunE: term.Run(func(ctx context.Context, args []string) error {
			value, err := ofInstance(env, to, args[0], "").call(ctx, mcp.ToolClose, func(*mcp.Client, ahp.Value) (any, error) {
				return closeArgs{to.Session, args[0]}, nil
			})
			if err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(value)
			}
			_, err = fmt.Fprintf(env.Out, "Closed %s.\n", term.Printable(args[0]))
			return err
		}),
	}
	flags(cmd, env, &to)
	return cmd
}
