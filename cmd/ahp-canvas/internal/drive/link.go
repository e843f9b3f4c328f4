package drive

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func linkCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print the link of a running host",
		Long: `Print the link that opens the page of a running host. It holds a token: people
who have the link can see and use the canvases.`,
		Args: term.Args(),
		RunE: term.Run(func(context.Context, []string) error { return link(env, to) }),
	}
	env.JSONFlag(cmd)
	to.HostFlag(cmd)
	return cmd
}

// linkLine is link --json.
type linkLine struct {
	Link string `json:"link"`
}

func link(env *term.Env, to reach.Target) error {
	h, err := to.Resolve(env)
	if err != nil {
		return err
	}
	if h.Link == "" {
		return term.Failf(term.CodeNoHost, "%q is not a host that you run on this machine, so its link is unknown here", to.Host)
	}
	if env.JSON {
		return env.PrintJSON(linkLine{h.Link})
	}
	_, err = fmt.Fprintln(env.Out, h.Link)
	return err
}
