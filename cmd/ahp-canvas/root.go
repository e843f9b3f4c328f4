package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// root is the command line as a whole.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ahp-canvas",
		Short: "Canvases for agents and people",
		Long: `ahp-canvas runs a canvas host: an agent opens interactive panels, people see
them in a browser, and both work with them.

  ahp-canvas serve                   start a host and print its link
  ahp-canvas serve --canvas ./dir    show a folder of your own

From another terminal:

  ahp-canvas ls                      what can be opened, and what is open
  ahp-canvas open board              open a canvas`,
		Version:       buildVersion(),
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("ahp-canvas {{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprint(".FlagUsagesWrapped ", helpWidth(a.out))))
	root.SetFlagErrorFunc(misread)
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(a.serveCommand(), a.lsCommand(), a.openCommand(), a.invokeCommand(), a.closeCommand(), a.eventsCommand(),
		a.linkCommand(), a.mcpCommand(), a.viewCommand(), a.newCommand(), a.lintCommand(), a.doctorCommand(), a.versionCommand(), a.extensionCommand(),
		a.conformCommand(), a.checkCommand(), a.recordCommand(),
		a.stateCommand(), a.relayCommand())
	return root
}

// helpWidth is where the words of flags end: at the terminal's edge, or where a
// pager is likely to have one.
func helpWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 80
	}
	return terminalWidth(w)
}

// knownCommand sees only what is no command.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	if like := root.SuggestionsFor(args[0]); len(like) > 0 {
		text += ": did you mean " + strings.Join(like, " or ") + "?"
	}
	return &usage{text: text}
}

// takes is the arguments of a command, by name.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			return &usage{fmt.Sprintf("%s does not take %q", cmd.Name(), args[len(names)]), cmd}
		case len(args) < len(names):
			return &usage{fmt.Sprintf("%s needs %s", cmd.Name(), strings.Join(names[len(args):], " and ")), cmd}
		}
		return nil
	}
}

// does makes a function a command's body. Its errors are failures of the
// operation; every other error that cobra returns is wrong usage.
func does(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd.Context(), args)
		if u, ok := errors.AsType[*usage](err); ok {
			return &usage{u.text, cmd}
		}
		if err != nil {
			return &failure{err}
		}
		return nil
	}
}

// jsonFlag adds --json.
func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object a line")
}

// targetFlags adds the flags that say which host and session is meant.
func (a *app) targetFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.to.host, "host", "", "URL of the host (default: the running host that started last)")
	cmd.Flags().StringVar(&a.to.tokenFile, "token-file", "", "file that holds the agent token (default: $AHP_CANVAS_TOKEN, or the running host's own)")
	must(cmd.MarkFlagFilename("token-file"))
}

// sessionFlag adds --session.
func (a *app) sessionFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.to.session, "session", "", "URI of the session (default: the host's default session)")
}
