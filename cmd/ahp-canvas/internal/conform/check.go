package conform

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// CheckCommand returns check.
func CheckCommand(env *term.Env) *cobra.Command {
	var opts conform.CheckOptions
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Run a folder of reducer and round-trip fixtures",
		Long: `Run the fixtures (*.json) of a folder and its subfolders through the reducers
and types of this program, and report different results. The formats are those
of testcases/README.md: a file with "reducer" is a reducer fixture, and one with
"type" is a round-trip fixture. Fixtures for channels or types that this program
does not know are skipped.

Reducer fixtures treat null and an absent member as equal, as AHP's fixtures do.
Files whose names end in -null-kept do not, and with --nulls no file does.

With --json each line is one object: a case, or at the end {"summary"}. The exit
status is 0 if no case failed, 1 if one did, and 2 for wrong usage.`,
		Args: term.Args("DIR"),
		RunE: term.Run(func(_ context.Context, args []string) error {
			out, err := newReport(env, o, "check")
			if err != nil {
				return err
			}
			report, err := checkFolder(args[0], opts)
			if err != nil {
				out.abandon()
				return err
			}
			for _, result := range report.Results {
				out.add(result)
			}
			return out.finish(report)
		}),
	}
	env.JSONFlag(cmd)
	cmd.Flags().BoolVar(&opts.Nulls, "nulls", false, "distinguish null from absent members in all reducer fixtures")
	o.flags(cmd)
	return cmd
}

func checkFolder(name string, opts conform.CheckOptions) (*conform.Report, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, term.Usagef("check needs a folder, and %s is a file", term.Printable(name))
	}
	report, err := conform.Check(os.DirFS(name), opts)
	if err == nil && len(report.Results) == 0 {
		err = fmt.Errorf("%s holds no fixtures, which are files that end in .json", name)
	}
	return report, err
}
