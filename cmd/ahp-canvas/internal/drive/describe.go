package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func describeCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "describe CANVAS",
		Short: "Show what a canvas is for, its input and its actions",
		Long: `Show what a canvas is for, the schema of its input, and its actions with theirs.

With --json each declaration of the canvas is one object on one line.`,
		Example:           "  ahp-canvas describe board",
		Args:              term.Args("CANVAS"),
		ValidArgsFunction: completer{env, &to}.args(canvasIDs),
		RunE:              term.Run(func(ctx context.Context, names []string) error { return describe(ctx, env, to, names[0]) }),
	}
	flags(cmd, env, &to)
	return cmd
}

func describe(ctx context.Context, env *term.Env, to reach.Target, canvasID string) error {
	value, err := ofCanvas(env, to, "", canvasID).call(ctx, mcp.ToolList, func(*mcp.Client, ahp.Value) (any, error) {
		return capabilitiesArgs{to.Session, canvasID}, nil
	})
	if err != nil {
		return err
	}
	var result struct {
		Canvases []session.SessionCanvasDeclaration `json:"canvases"`
	}
	if err := reach.Decode(mcp.ToolList, value, &result); err != nil {
		return err
	}
	for i, d := range result.Canvases {
		switch {
		case env.JSON:
			if err := env.PrintJSON(d); err != nil {
				return err
			}
			continue
		case i > 0:
			fmt.Fprintln(env.Out)
		}
		printDeclaration(env.Out, d)
	}
	return nil
}

// printDeclaration prints a declaration for people. All of its text comes from a provider.
func printDeclaration(w io.Writer, d session.SessionCanvasDeclaration) {
	fmt.Fprintf(w, "%s  %s, of %s\n", term.Printable(d.CanvasID), term.Printable(d.DisplayName), term.Printable(d.ExtensionID))
	printIndented(w, "  ", d.Description)
	printSchema(w, "  ", d.InputSchema)
	for _, a := range d.Actions {
		fmt.Fprintf(w, "\n  %s\n", term.Printable(a.Name))
		printIndented(w, "    ", a.Description)
		printSchema(w, "    ", a.InputSchema)
	}
}

func printIndented(w io.Writer, indent, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(term.PrintableLines(text)) {
		fmt.Fprintln(w, indent+strings.TrimSuffix(line, "\n"))
	}
}

func printSchema(w io.Writer, indent string, schema ahp.Value) {
	var pretty bytes.Buffer
	if schema == nil || json.Indent(&pretty, schema, "", "  ") != nil {
		return
	}
	fmt.Fprintln(w, indent+"Input:")
	printIndented(w, indent, pretty.String())
}
