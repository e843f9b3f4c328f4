package licenses

import (
	"context"
	_ "embed"
	"io"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

//go:embed third_party.licenses
var text string

// Command returns licenses.
func Command(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "licenses",
		Short:   "Print the licenses of the software in this program",
		Long:    "Print the names, versions, licenses and notices of the Go modules that this\nprogram contains, and of the packages in the page that renders A2UI.",
		Example: "  ahp-canvas licenses",
		Args:    term.Args(),
		RunE: term.Run(func(context.Context, []string) error {
			if _, err := io.WriteString(env.Out, text); err != nil {
				return err
			}
			_, err := env.Out.Write(a2uicanvas.Licenses())
			return err
		}),
	}
}
