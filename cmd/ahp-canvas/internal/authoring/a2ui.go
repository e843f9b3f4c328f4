package authoring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// A2UICommand returns a2ui, with its commands check and licences.
func A2UICommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "a2ui",
		Short: "Check A2UI messages",
		Long: `A2UI: an agent describes an interface as data, and people see it drawn by the
official renderer. Canvas "a2ui" of every host shows it; "ahp-canvas serve
--a2ui-agent" adds remote agents.`,
		Args: term.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	check := &cobra.Command{
		Use:   "check FILE|-",
		Short: "Report what is wrong with A2UI messages",
		Long: `Report what is wrong with a list of A2UI messages, or with one message a line,
as canvas "a2ui" does: the number of the message, a JSON Pointer and the
reason. - reads standard input. Warnings are about what a later message can
complete.

The exit status is 1 if a message is wrong, and 0 if there are only warnings.`,
		Args: term.Args("FILE|-"),
		RunE: term.Run(func(_ context.Context, args []string) error { return checkMessages(env, args[0]) }),
	}
	env.JSONFlag(check)
	cmd.AddCommand(check, &cobra.Command{
		Use:     "licences",
		Aliases: []string{"licenses"},
		Short:   "Print the licenses of the A2UI renderer's packages",
		Args:    term.Args(),
		RunE: term.Run(func(context.Context, []string) error {
			_, err := env.Out.Write(a2uicanvas.Licenses())
			return err
		}),
	})
	return cmd
}

// maxCheckBytes limits a file of messages.
const maxCheckBytes = 64 << 20

// checkMessages checks the messages in a file.
func checkMessages(env *term.Env, file string) error {
	raw, err := readMessages(env, file)
	if err != nil {
		return err
	}
	list, err := listOf(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	r := a2ui.NewSurfaces(a2ui.Limits{Messages: len(list) + 1}).Apply("Agent", list)
	if err := printFailures(env, r); err != nil {
		return err
	}
	if len(r.Errors) > 0 {
		return fmt.Errorf("%s: %s of %d", file, term.Count(len(r.Errors), "wrong message", "wrong messages"), len(list))
	}
	if !env.JSON {
		_, err = fmt.Fprintf(env.Out, "%s: %s\n", term.Printable(file), term.Count(len(list), "message", "messages"))
	}
	return err
}

func readMessages(env *term.Env, file string) ([]byte, error) {
	in := env.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, term.Usagef("%v", err)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxCheckBytes+1))
	if err == nil && len(raw) > maxCheckBytes {
		err = fmt.Errorf("%s has more than %d bytes", file, maxCheckBytes)
	}
	return raw, err
}

// listOf returns the messages in a document, or in its lines.
func listOf(raw []byte) ([]ahp.Value, error) {
	if v := ahp.Value(bytes.TrimSpace(raw)); v.IsValid() {
		list, err := a2ui.Messages(v)
		if e, ok := errors.AsType[*a2ui.Error](err); ok {
			return nil, fmt.Errorf("%s: %s", e.Path, e.Message)
		}
		return list, err
	}
	var list []ahp.Value
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		some, err := a2ui.Messages(ahp.Value(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %v", n, err)
		}
		list = append(list, some...)
	}
	return list, nil
}

// printFailures prints errors and then warnings.
func printFailures(env *term.Env, r a2ui.Result) error {
	for n, f := range append(r.Errors, r.Warnings...) {
		severity := "error"
		if n >= len(r.Errors) {
			severity = "warning"
		}
		if env.JSON {
			if err := env.PrintJSON(struct {
				Severity string `json:"severity"`
				a2ui.Failure
			}{severity, f}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(env.Out, "%d %s: %s: %s\n", f.Index, term.Printable(f.Path), severity, term.Printable(f.Message)); err != nil {
			return err
		}
	}
	return nil
}
