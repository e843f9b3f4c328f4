package aamcmd

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
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
unknown is not sent again: look it up at the facilitator.

Only a person collects, here or on the canvas "Agents": the command uses the
view token of a host that you run on this machine, and an agent's token is not
enough.`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return settle(ctx, env, to) }),
	}
	env.JSONFlag(cmd)
	to.HostFlag(cmd)
	return cmd
}

// settle has the canvas of a running host collect: the host has the site's store.
func settle(ctx context.Context, env *term.Env, to reach.Target) error {
	defer env.Progress("Waiting for the host")()
	h, err := to.Resolve(env)
	if err != nil {
		return err
	}
	if h.ViewToken == "" {
		return term.Failf(term.CodeNoHost, "%q is not a host that you run on this machine; payments are collected there, or on the canvas \"Agents\"", to.Host)
	}
	channel, err := openAgents(ctx, env, h)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, h.AHP(), client.Options{Token: h.ViewToken, Subscriptions: []string{channel}})
	if err != nil {
		return h.Error(err)
	}
	defer c.Close()
	var sum site.Collected
	for more := true; more; {
		part, err := collect(ctx, c, channel)
		if err != nil {
			return err
		}
		sum.Collected, sum.Failed, sum.Unknown, sum.Left = sum.Collected+part.Collected, sum.Failed+part.Failed, sum.Unknown+part.Unknown, part.Left
		more = part.Left > 0 && part.Collected+part.Failed+part.Unknown > 0
	}
	if env.JSON {
		return env.PrintJSON(sum)
	}
	_, err = fmt.Fprintf(env.Out, "%d collected, %d failed, %d with an unknown outcome\n", sum.Collected, sum.Failed, sum.Unknown)
	return err
}

// openAgents opens the canvas "Agents", and returns its channel.
func openAgents(ctx context.Context, env *term.Env, h reach.Host) (channel string, err error) {
	c, err := h.Dial(ctx, env)
	if err != nil {
		return "", err
	}
	defer c.Close()
	open := struct {
		ExtensionID string `json:"extensionId"`
		CanvasID    string `json:"canvasId"`
		InstanceID  string `json:"instanceId"`
	}{aamcanvas.ExtensionID, aamcanvas.AgentsID, aamcanvas.AgentsID}
	var opened struct {
		Channel string    `json:"channel"`
		Rest    ahp.Value `json:",embed"`
	}
	err = reach.CallInto(ctx, c, mcp.ToolOpen, open, &opened)
	return opened.Channel, err
}

// collect has the host collect for some seconds, as the canvas's page does.
func collect(ctx context.Context, c *client.Client, channel string) (site.Collected, error) {
	ref := rand.Text()
	w := c.Watch(channel)
	defer w.Close()
	if err := c.Message(ctx, channel, map[string]string{"aam": "collect", "ref": ref}); err != nil {
		return site.Collected{}, err
	}
	for event, err := range w.All(ctx) {
		if err != nil {
			return site.Collected{}, err
		}
		m, ok := event.Action.(canvas.Message)
		if !ok {
			continue
		}
		var answer struct {
			AAM       string         `json:"aam,omitzero"`
			Ref       string         `json:"ref,omitzero"`
			Code      string         `json:"code,omitzero"`
			Message   string         `json:"message,omitzero"`
			Collected site.Collected `json:"collected,omitzero"`
			Rest      ahp.Value      `json:",embed"`
		}
		if ahp.Unmarshal(m.Payload, &answer) != nil || answer.Ref != ref {
			continue
		}
		switch answer.AAM {
		case "done":
			return answer.Collected, nil
		case "refused":
			return site.Collected{}, term.Failf(answer.Code, "%s", answer.Message)
		}
	}
	return site.Collected{}, context.Cause(ctx)
}
