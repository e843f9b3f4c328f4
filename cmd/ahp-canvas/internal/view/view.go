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
		Short: "Offer open canvases at urls of this machine, or a file as one",
		Long: `Look at a host from this machine: each of its open canvases gets a loopback url
of its own here, for apps that embed only those. LINK is what serve prints, of a
host anywhere, also behind a relay; without one it is the host that runs here.
It holds a token, and other users of this machine can read command lines: as -
it is read from standard input.

With --native, declare an editor canvas on a file, as a native client does: the
agent opens it, reads and changes the text and saves it, and this terminal shows
what happens. Who looks at the host's page sees the text too. Ctrl-C takes it
away.

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
				return term.Usagef("--native needs the FILE to edit")
			}
			return viewNative(ctx, env, to, names[0])
		}),
	}
	cmd.Flags().BoolVar(&native, "native", false, "edit FILE in this program")
	env.JSONFlag(cmd)
	to.Flags(cmd)
	to.SessionFlag(cmd)
	return cmd
}

// connectionText tells a person that the host became reachable or unreachable.
func connectionText(connected bool) string {
	if connected {
		return "Connected again."
	}
	return "The host is not there; looking for it…"
}
