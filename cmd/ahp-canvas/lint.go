package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
)

func (a *app) lintCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lint DIR",
		Short: "Say what is wrong with a folder as a canvas",
		Long: `Say what is wrong with a folder as a canvas, with file and line: in canvas.json,
in what its pages, style sheets and scripts refer to, and between the actions
that are declared and those that are handled. It runs nothing.

The exit status is 1 where something does not work, and 0 with warnings alone.`,
		Args: takes("DIR"),
		RunE: does(a.lint),
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) lint(_ context.Context, args []string) error {
	found, err := folder.Lint(args[0])
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range found {
		if f.Severity == folder.SeverityError {
			bad++
		}
		if err := a.printFinding(f); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s: %s", args[0], counted(bad, "thing does not work", "things do not work"))
	}
	if !a.json {
		word := "nothing is wrong"
		if len(found) > 0 {
			word = counted(len(found), "warning", "warnings")
		}
		_, err = fmt.Fprintf(a.out, "%s: %s\n", printable(args[0]), word)
	}
	return err
}

// printFinding prints a finding as compilers do, so that editors can go there,
// and below it what to do.
func (a *app) printFinding(f folder.Finding) error {
	if a.json {
		return printLine(a.out, f)
	}
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	_, err := fmt.Fprintf(a.out, "%s: %s: %s\n  %s\n", printable(place), f.Severity, printable(f.Text), printable(f.Fix))
	return err
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shellWord quotes what a shell would not take as one word.
func shellWord(s string) string {
	s = printable(s)
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("./_-+:@%,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
