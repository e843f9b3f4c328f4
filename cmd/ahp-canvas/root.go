package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/aamcmd"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/authoring"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/conform"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/docs"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/doctor"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/drive"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/licenses"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/people"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relay"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/serve"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/state"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/view"
)

// run runs a command line and returns the exit status.
func run(ctx context.Context, env *term.Env, args []string) int {
	root := newRoot(env)
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return env.Report(term.CommandError(cmd, err))
}

// newRoot returns the command line as a whole.
func newRoot(env *term.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "ahp-canvas",
		Short: "Canvases for agents and people",
		Long: `ahp-canvas runs a host for canvases: interactive panels such as boards, forms
and charts. An agent opens them through MCP, people see them in a browser, and
both work with them.

  ahp-canvas serve                   start a host and print its link
  ahp-canvas serve --canvas ./dir    show a folder of your own as a canvas

From another terminal:

  ahp-canvas ls                      list what can be opened and what is open
  ahp-canvas open board              open the bundled board`,
		Version:       env.Version,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate(thisBuild().String() + "\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprint(".FlagUsagesWrapped ", env.HelpColumns())))
	root.SetFlagErrorFunc(term.FlagError)
	root.SuggestionsMinimumDistance = 2
	addGroup(root, "Run a host:", serve.Command(env), drive.MCPCommand(env, &serve.Stdio{}), relay.Command(env),
		doctor.Command(env), state.Command(env))
	addGroup(root, "Work with a running host:", append(drive.Commands(env), view.Command(env), people.TokenCommand(env), people.PeopleCommand(env), people.AuditCommand(env), aamcmd.Command(env))...)
	addGroup(root, "Write canvases:", authoring.NewCommand(env), authoring.LintCommand(env), authoring.AAPCommand(env), authoring.A2UICommand(env))
	addGroup(root, "Test and record AHP, the Agent Host Protocol:", conform.Command(env), conform.CheckCommand(env), conform.RecordCommand(env))
	root.AddCommand(versionCommand(env), docs.Command(env, reference()), licenses.Command(env))
	reach.CompleteHost(env, root)
	return root
}

// reference collects what the documentation is made from.
func reference() docs.Tables {
	t := docs.Tables{Protocol: protocol()}
	for _, code := range term.Codes() {
		t.Errors = append(t.Errors, docs.Error{Code: code, Cause: term.Cause(code), Remedy: term.Remedy(code)})
	}
	for _, d := range append(serve.Metrics(), relay.Metrics()...) {
		t.Metrics = append(t.Metrics, docs.Metric(d))
	}
	return t
}

// addGroup adds commands below a separate title in the help.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
		root.AddCommand(cmd)
	}
}

// unknownCommand rejects any argument: an argument of the root is an unknown command.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if like := root.SuggestionsFor(args[0]); len(like) > 0 {
		text += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return term.Usagef("%s", text)
}
