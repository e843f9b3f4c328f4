package authoring

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// LintCommand returns lint.
func LintCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lint DIR",
		Short: "Report what is wrong with a canvas folder",
		Long: `Report what is wrong with a canvas folder, with file and line: mistakes in
canvas.json, broken references in pages, style sheets and scripts, and actions
that are declared but not handled, or handled but not declared. An actions.json
is judged as strictly as serve --actions-page does. lint runs nothing in the
folder.

The exit status is 1 if something does not work, and 0 if there are only
warnings.`,
		Args: term.Args("DIR"),
		RunE: term.Run(func(_ context.Context, args []string) error { return lint(env, args[0]) }),
	}
	env.JSONFlag(cmd)
	return cmd
}

func lint(env *term.Env, dir string) error {
	found, err := bridgecanvas.LintFolder(dir)
	if err != nil {
		return err
	}
	errors := 0
	for _, f := range found {
		if f.Severity == folder.SeverityError {
			errors++
		}
		if err := printFinding(env, f); err != nil {
			return err
		}
	}
	if errors > 0 {
		return fmt.Errorf("%s: %s", dir, term.Count(errors, "error", "errors"))
	}
	if !env.JSON {
		word := "no problems"
		if len(found) > 0 {
			word = term.Count(len(found), "warning", "warnings")
		}
		_, err = fmt.Fprintf(env.Out, "%s: %s\n", term.Printable(dir), word)
	}
	return err
}

// printFinding prints a finding as compilers do, so that editors can jump to it, and what
// to do below it.
func printFinding(env *term.Env, f folder.Finding) error {
	if env.JSON {
		return env.PrintJSON(f)
	}
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	_, err := fmt.Fprintf(env.Out, "%s: %s: %s\n  %s\n", term.Printable(place), f.Severity, term.Printable(f.Text), term.Printable(f.Fix))
	return err
}
