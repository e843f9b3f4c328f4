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
	var readOnly, invite, actionsBridge bool
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print the link of a running host",
		Long: `Print the link that opens the page of a running host. It holds a token: people
who have the link can see and use the canvases.

With --read-only, print a new link with which people see the canvases and
change nothing; "ahp-canvas token" lists and revokes it. With --invite, the link
is good once, for ten minutes; "ahp-canvas people" lists the browser that opened
it.

With --actions-bridge, print the address to which a browser extension or a
program connects pages, with its token; do not give it to a web page, which can
read it.`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error {
			if readOnly || invite {
				return newLink(ctx, env, to, readOnly, invite)
			}
			return link(env, to, actionsBridge)
		}),
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "make a link with which people only see")
	cmd.Flags().BoolVar(&invite, "invite", false, "make a link that is good once")
	cmd.Flags().BoolVar(&actionsBridge, "actions-bridge", false, "print the address for browser pages, with its token")
	cmd.MarkFlagsMutuallyExclusive("actions-bridge", "read-only")
	cmd.MarkFlagsMutuallyExclusive("actions-bridge", "invite")
	env.JSONFlag(cmd)
	to.Flags(cmd)
	return cmd
}

// linkLine is link --json.
type linkLine struct {
	Link      string `json:"link"`
	RelayLink string `json:"relayLink,omitzero"`
}

func link(env *term.Env, to reach.Target, actionsBridge bool) error {
	h, err := to.Resolve(env)
	if err != nil {
		return err
	}
	if h.Link == "" {
		return term.Failf(term.CodeNoHost, "%q is not a host that you run on this machine, so its link is unknown here", to.Host)
	}
	printed := h.Link
	if actionsBridge {
		if printed = h.ActionsBridge; printed == "" {
			return term.Failf(term.CodeNoHost, "this host has no endpoint for browser pages; start it with --actions-bridge 127.0.0.1:17345")
		}
	}
	if env.JSON {
		return env.PrintJSON(linkLine{Link: printed})
	}
	_, err = fmt.Fprintln(env.Out, printed)
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
	if err == nil && made.RelayLink != "" {
		env.Note("the same invitation through the relay:")
		_, err = fmt.Fprintln(env.Out, made.RelayLink)
	}
	return err
}
