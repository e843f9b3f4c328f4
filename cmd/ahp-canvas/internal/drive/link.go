package drive

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func linkCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	var readOnly, invite bool
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print the link of a running host",
		Long: `Print the link that opens the page of a running host. It holds a token: people
who have the link can see and use the canvases.

With --read-only, print a new link with which people see the canvases and
change nothing; "ahp-canvas token" lists and revokes it. With --invite, the link
is good once, for ten minutes; "ahp-canvas people" lists the browser that opened
it.`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error {
			if readOnly || invite {
				return newLink(ctx, env, to, readOnly, invite)
			}
			return link(env, to)
		}),
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "make a link with which people only see")
	cmd.Flags().BoolVar(&invite, "invite", false, "make a link that is good once")
	env.JSONFlag(cmd)
	to.Flags(cmd)
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

// newLink asks the host for a link with a new token.
func newLink(ctx context.Context, env *term.Env, to reach.Target, readOnly, invite bool) error {
	in := struct {
		Name   string `json:"name"`
		Role   string `json:"role"`
		Invite bool   `json:"invite,omitzero"`
	}{"invitation", "view", invite}
	if readOnly {
		in.Role = "read"
		if !invite {
			in.Name = "read-only link"
		}
	}
	var made linkLine
	if err := to.Access(ctx, env, http.MethodPost, "/access/tokens", in, &made); err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(made)
	}
	_, err := fmt.Fprintln(env.Out, made.Link)
	return err
}
