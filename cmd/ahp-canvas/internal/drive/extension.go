package drive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/process"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// codeNoExtension is the code for an extension that the host does not run.
const codeNoExtension = "extension_not_found"

func extensionCommand(env *term.Env) *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "extension",
		Short: "Inspect the extensions of a running host",
		Args:  term.Args(),
	}, extensionLogsCommand(env))
}

func extensionLogsCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "logs [NAME]",
		Short: "Print the logs of extensions",
		Long: `Print the logs of all extensions of a running host, or of one. A log is what an
extension wrote to its standard error; the host keeps the newest half MiB. Logs
are files, so the host must run on this machine.

With --json each line is one object: {"extension","line"}.`,
		Example: `  ahp-canvas extension logs
  ahp-canvas extension logs kanban`,
		Args: cobra.MaximumNArgs(1),
		RunE: term.Run(func(_ context.Context, args []string) error { return extensionLogs(env, to, args) }),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			dir, err := logFolder(env, to)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return logNames(dir), cobra.ShellCompDirectiveNoFileComp
		},
	}
	env.JSONFlag(cmd)
	to.HostFlag(cmd)
	return cmd
}

// extensionLogs prints the logs of all extensions, or of the extension that args names.
func extensionLogs(env *term.Env, to reach.Target, args []string) error {
	dir, err := logFolder(env, to)
	if err != nil {
		return err
	}
	ids := logNames(dir)
	if len(args) > 0 {
		if !slices.Contains(ids, args[0]) {
			return term.Failf(codeNoExtension, "the host runs no extension %q; it runs %s", args[0], orNone(ids))
		}
		ids = args
	}
	for i, id := range ids {
		text, err := process.ReadLog(dir, id)
		if err != nil {
			return err
		}
		if len(ids) > 1 && !env.JSON {
			if i > 0 {
				fmt.Fprintln(env.Out)
			}
			fmt.Fprintf(env.Out, "== %s\n", term.Printable(id))
		}
		if err := printLog(env, id, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// logLine is a line of a log with --json.
type logLine struct {
	Extension string `json:"extension"`
	Line      string `json:"line"`
}

func printLog(env *term.Env, id, text string) error {
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = term.Printable(strings.TrimRight(line, "\r\n"))
		if env.JSON {
			if err := env.PrintJSON(logLine{id, line}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(env.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// logFolder returns the folder with the logs of the host that is meant.
func logFolder(env *term.Env, to reach.Target) (string, error) {
	h, err := to.ResolveLocal(env)
	if err != nil {
		return "", err
	}
	return userdir.Logs(userdir.Runtime(env.Getenv), h.PID), nil
}

// logNames returns the extensions that have a log.
func logNames(dir string) (ids []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the host has no extensions
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(filepath.Base(e.Name()), ".log"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func orNone(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}
