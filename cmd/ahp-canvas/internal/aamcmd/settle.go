package aamcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func settleCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "settle",
		Short: "Collect the payments that agents have signed",
		Long: `Have the facilitator of the site's file execute the payments that are signed and
not collected. An authorization ends after the time that the file says
("valid"), so run this more often than "later" says. A payment whose outcome is
unknown is not sent again: look it up at the facilitator.`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return settle(ctx, env, to) }),
	}
	env.JSONFlag(cmd)
	to.Flags(cmd)
	return cmd
}

// settle has the canvas of a running host collect: the host has the site's store.
func settle(ctx context.Context, env *term.Env, to reach.Target) error {
	open := struct {
		ExtensionID string `json:"extensionId"`
		CanvasID    string `json:"canvasId"`
		InstanceID  string `json:"instanceId"`
	}{aamcanvas.ExtensionID, aamcanvas.AgentsID, aamcanvas.AgentsID}
	if _, err := to.Call(ctx, env, mcp.ToolOpen, open); err != nil {
		return err
	}
	var sum site.Collected
	for more := true; more; {
		part, err := collect(ctx, env, to)
		if err != nil {
			return err
		}
		sum.Collected, sum.Failed, sum.Unknown, sum.Left = sum.Collected+part.Collected, sum.Failed+part.Failed, sum.Unknown+part.Unknown, part.Left
		more = part.Left > 0 && part.Collected+part.Failed+part.Unknown > 0
	}
	if env.JSON {
		return env.PrintJSON(sum)
	}
	_, err := fmt.Fprintf(env.Out, "%d collected, %d failed, %d with an unknown outcome\n", sum.Collected, sum.Failed, sum.Unknown)
	return err
}

// collect has the host collect for some seconds.
func collect(ctx context.Context, env *term.Env, to reach.Target) (site.Collected, error) {
	value, err := to.Call(ctx, env, mcp.ToolInvoke, struct {
		InstanceID string `json:"instanceId"`
		ActionName string `json:"actionName"`
	}{aamcanvas.AgentsID, "collect"})
	if err != nil {
		return site.Collected{}, err
	}
	var result struct {
		Value site.Collected `json:"value"`
		Rest  ahp.Value      `json:",embed"`
	}
	err = reach.Decode(mcp.ToolInvoke, value, &result)
	return result.Value, err
}
