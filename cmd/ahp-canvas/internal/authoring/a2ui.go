package authoring

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// maxMessages limits the file of a2ui check, in bytes.
const maxMessages = 16 << 20

// A2UICommand returns a2ui, with its commands check and licences.
func A2UICommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "a2ui",
		Short: "Check A2UI messages, and print the renderer's licenses",
		Long: `A2UI, Agent to UI: an agent describes a form, a card or a list as data, and the
official renderer in the page draws it. Agents open the canvas "a2ui"; remote
agents come with "ahp-canvas serve --a2ui-agent".`,
		Args: term.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	check := &cobra.Command{
		Use:   "check FILE|-",
		Short: "Report what is wrong with A2UI messages",
		Long: `Report what is wrong with A2UI v0.9 messages: a JSON list, any wrapping of one,
or one message on each line. Each problem is a line with the number of the
message, a JSON Pointer into it, and what to do. Nothing is sent anywhere.

The exit status is 1 if a host would refuse a message, and 0 if there are only
warnings.`,
		Example: `  ahp-canvas a2ui check messages.json
  my-agent | ahp-canvas a2ui check -`,
		Args: term.Args("FILE"),
		RunE: term.Run(func(_ context.Context, args []string) error { return checkA2UI(env, args[0]) }),
	}
	env.JSONFlag(check)
	cmd.AddCommand(check, &cobra.Command{
		Use:     "licences",
		Aliases: []string{"licenses"},
		Short:   "Print the licenses of the A2UI renderer and its icons",
		Args:    term.Args(),
		RunE: term.Run(func(context.Context, []string) error {
			_, err := env.Out.Write(a2uicanvas.Licenses())
			return err
		}),
	})
	return cmd
}

// finding is a problem of a message, as a2ui check prints it.
type finding struct {
	Severity string `json:"severity"`
	a2ui.Failure
}

func checkA2UI(env *term.Env, file string) error {
	list, err := readMessages(env, file)
	if err != nil {
		return err
	}
	r := a2ui.NewSurfaces(a2ui.Limits{}).Apply("Agent", list)
	for _, set := range []struct {
		severity string
		failures []a2ui.Failure
	}{{"error", r.Errors}, {"warning", r.Warnings}} {
		for _, f := range set.failures {
			if err := printFailure(env, finding{set.severity, f}); err != nil {
				return err
			}
		}
	}
	if len(r.Errors) > 0 {
		return fmt.Errorf("%s: %s", file, term.Count(len(r.Errors), "error", "errors"))
	}
	if !env.JSON {
		_, err = fmt.Fprintf(env.Out, "%s: %s, %s\n", term.Printable(file), term.Count(len(list), "message", "messages"), term.Count(len(r.Warnings), "warning", "warnings"))
	}
	return err
}

func printFailure(env *term.Env, f finding) error {
	if env.JSON {
		return env.PrintJSON(f)
	}
	_, err := fmt.Fprintf(env.Out, "%d: %s: %s: %s (%s)\n", f.Index, f.Severity, term.Printable(f.Path), term.Printable(f.Message), f.Code)
	return err
}

// readMessages reads a list, a wrapping of one, or a message on each line.
func readMessages(env *term.Env, file string) ([]ahp.Value, error) {
	in := env.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxMessages+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxMessages {
		return nil, fmt.Errorf("%s has more than %d MiB", file, maxMessages>>20)
	}
	if v := ahp.Value(bytes.TrimSpace(raw)); v.IsValid() {
		return a2ui.Messages(v)
	}
	var list []ahp.Value
	for n, line := range bytes.Split(raw, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !ahp.Value(line).IsValid() {
			return nil, fmt.Errorf("%s: line %d is not JSON; want a list, or one message on each line", file, n+1)
		}
		more, err := a2ui.Messages(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, n+1, err)
		}
		list = append(list, more...)
	}
	return list, nil
}
