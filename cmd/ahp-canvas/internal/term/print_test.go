package term_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

func TestTable(t *testing.T) {
	tab := term.Table{Head: []string{"A", "LONGER"}}
	tab.Add("ünï", "x\x1b[31m")
	tab.Add("看板", "wide")
	tab.Add("", "last")
	var b strings.Builder
	tab.Print(&b)
	want := "A     LONGER\nünï   x [31m\n看板  wide\n      last\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// report reports an error like a command that failed with it.
func report(env *term.Env, err error) {
	run := term.Run(func(context.Context, []string) error { return err })
	env.Report(run(&cobra.Command{}, nil))
}

// TestErrorsDriveNoTerminal checks that no text in an error drives the terminal.
func TestErrorsDriveNoTerminal(t *testing.T) {
	for name, print := range map[string]func(env *term.Env){
		"code and message": func(env *term.Env) { report(env, term.Failf("code"+termtest.Hostile, "%s", termtest.Hostile)) },
		"candidates": func(env *term.Env) {
			report(env, &canvas.Error{Code: canvas.CodeAmbiguous, Message: "x", Candidates: []string{termtest.Hostile}})
		},
		"no code":     func(env *term.Env) { report(env, errors.New(termtest.Hostile)) },
		"wrong usage": func(env *term.Env) { env.Report(term.Usagef("%s", termtest.Hostile)) },
		"note":        func(env *term.Env) { env.Note(termtest.Hostile) },
	} {
		t.Run(name, func(t *testing.T) { termtest.PrintsSafely(t, print) })
	}
}
