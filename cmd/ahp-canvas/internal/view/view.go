package view

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// checkInterval is how often the file and the connection are checked.
const checkInterval = 500 * time.Millisecond

// Command returns view.
func Command(env *term.Env) *cobra.Command {
	var to reach.Target
	var native bool
	cmd := &cobra.Command{
		Use:   "view [LINK] | view --native FILE",
		Short: "Show a host's canvases at local URLs, or a file as a canvas",
		Long: `Show the canvases of a host on this machine. Each open canvas gets a loopback
URL, for apps that can embed only such URLs. The URL has a secret: a program
that knows it can see the canvas. LINK is a link that serve printed, also that
of a host behind a relay. Without LINK, view shows the canvases of the host that
runs on this machine. A link holds a token, and other users can read command
lines: give - to read it from standard input.

With --native, view offers FILE as a canvas named "editor". An agent can open
it, change the text and save it, and this terminal shows what happens. People on
the host's page see the text too. Ctrl-C removes the canvas.

With --json each change is one object:
  {"instanceId","canvasId","title"?,"availability","url"?,"closed"?}`,
		Example: `  ahp-canvas view 'https://canvas.example/#tkn=…'
  ahp-canvas view - < link.txt
  ahp-canvas view --native notes.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: term.Run(func(ctx context.Context, names []string) error {
			switch {
			case !native:
				return viewLocal(ctx, env, to, strings.Join(names, ""))
			case len(names) == 0:
				return term.Usagef("--native needs FILE")
			}
			return viewNative(ctx, env, to, names[0])
		}),
	}
	cmd.Flags().BoolVar(&native, "native", false, "offer FILE as a canvas that this program edits")
	env.JSONFlag(cmd)
	to.Flags(cmd)
	to.SessionFlag(cmd)
	return cmd
}

// connectionText tells a person that the host became reachable or unreachable.
func connectionText(connected bool) string {
	if connected {
		return "Reconnected to the host."
	}
	return "Lost the connection to the host; reconnecting…"
}
