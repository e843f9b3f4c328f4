package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/extension"
)

// codeNoExtension is what is said of an extension that the host does not run.
const codeNoExtension = "extension_not_found"

func (a *app) extensionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "extension",
		Short: "Look after the extensions of a running host",
		Args:  takes(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.extensionLogsCommand())
	return cmd
}

func (a *app) extensionLogsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logs [NAME]",
		Short: "Print what extensions have said",
		Long: `Print the newest of what the extensions of a running host wrote to their
standard error, or one extension's: half a MiB each is kept. It is read from the
machine's own files, so the host must run here.

With --json each line is one object: {"extension","line"}.`,
		Example: `  ahp-canvas extension logs
  ahp-canvas extension logs kanban`,
		Args: cobra.MaximumNArgs(1),
		RunE: does(func(_ context.Context, args []string) error { return a.extensionLogs(args) }),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			dir, err := a.logsHere()
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return logged(dir), cobra.ShellCompDirectiveNoFileComp
		},
	}
	a.jsonFlag(cmd)
	cmd.Flags().StringVar(&a.to.host, "host", "", "URL of the host (default: the running host that started last)")
	return cmd
}

// extensionLogs prints the logs of all extensions, or of one.
func (a *app) extensionLogs(args []string) error {
	dir, err := a.logsHere()
	if err != nil {
		return err
	}
	ids := logged(dir)
	if len(args) > 0 {
		if !slices.Contains(ids, args[0]) {
			return failf(codeNoExtension, "the host runs no extension %q; it runs %s", args[0], orNone(ids))
		}
		ids = args
	}
	for i, id := range ids {
		text, err := extension.ReadLog(dir, id)
		if err != nil {
			return err
		}
		if len(ids) > 1 && !a.json {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			fmt.Fprintf(a.out, "== %s\n", printable(id))
		}
		if err := a.printLog(id, string(text)); err != nil {
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

// printLog prints a log line by line: what a process says must not reach a
// terminal as it is.
func (a *app) printLog(id, text string) error {
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = printable(strings.TrimRight(line, "\r\n"))
		if a.json {
			if err := printLine(a.out, logLine{id, line}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.out, line); err != nil {
			return err
		}
	}
	return nil
}

// logsHere is the folder of logs of the host that is meant.
func (a *app) logsHere() (string, error) {
	runtimeDir := runtimeFolder(a.getenv)
	hosts, err := running(runtimeDir)
	if err != nil {
		return "", fmt.Errorf("cannot look for running hosts: %w", err)
	}
	if a.to.host != "" {
		address, err := mcpURL(a.to.host)
		if err != nil {
			return "", err
		}
		hosts = slices.DeleteFunc(hosts, func(e endpointFile) bool { return !sameOrigin(e.MCP, address) })
	}
	if len(hosts) == 0 {
		return "", failf(codeNoHost, "no such host of this user is running on this machine")
	}
	return logFolder(runtimeDir, hosts[0].PID), nil
}

// logged names the extensions that have a log.
func logged(dir string) (ids []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it has no extensions
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
