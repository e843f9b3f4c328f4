package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func testEnv(out, errs io.Writer) *term.Env {
	return &term.Env{Out: out, Err: errs, Getenv: func(string) string { return "" }}
}

// TestHelpFitsATerminal checks that no line of any help is wider than a terminal.
func TestHelpFitsATerminal(t *testing.T) {
	const columns = 80
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		var out bytes.Buffer
		line := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := run(t.Context(), testEnv(&out, &out), line); code != term.ExitDone || !strings.Contains(out.String(), "Usage:") {
			t.Errorf("%q: exit status %d\n%s", line, code, &out)
		}
		for text := range strings.Lines(out.String()) {
			if strings.Contains(line[0], "completion") || strings.HasPrefix(text, "Use ") {
				continue // cobra's own
			}
			if n := term.Width(strings.TrimSuffix(text, "\n")); n > columns {
				t.Errorf("%q has a line of %d columns: %s", line, n, text)
			}
		}
	}
	visit(newRoot(testEnv(nil, nil)))
}

// TestWrongFlags checks that a missing flag, and a value that a flag does not accept, are
// named as the user writes them, together with the usage of the command.
func TestWrongFlags(t *testing.T) {
	for line, want := range map[string]string{
		"relay":                           "relay needs --tokens\n  Usage: ahp-canvas relay ",
		"relay token":                     "token needs --host and --tokens\n  Usage: ahp-canvas relay token ",
		"relay token --host a":            "token needs --tokens\n",
		"serve --relay ws://localhost/":   "serve needs --relay-token-file with --relay\n  Usage: ahp-canvas serve ",
		"serve --relay-token-file x.json": "serve needs --relay with --relay-token-file\n",
		"serve --log-level loud":          "--log-level \"loud\": want debug, info, warn or error\n  Usage: ahp-canvas serve ",
		"serve --max-http x":              "--max-http \"x\": want a whole number\n",
		"events --timeout 5":              "--timeout \"5\": want a time, as in 30s or 5m\n  Usage: ahp-canvas events ",
		"events --after 1.5":              "--after \"1.5\": want a whole number\n",
		"events --follow=x":               "--follow \"x\": want true or false\n",
		"ls --nope":                       "unknown flag: --nope\n  Usage: ahp-canvas ls ",
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), testEnv(&out, &errs), strings.Fields(line)); code != term.ExitUsage || !strings.HasPrefix(errs.String(), "ahp-canvas: "+want) || out.Len() != 0 {
			t.Errorf("%s: exit status %d, %q", line, code, &errs)
		}
	}
}
