package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Help is read in a terminal: no line of any command's is longer than one, and
// words of flags go on below each other.
func TestHelpFitsATerminal(t *testing.T) {
	const usual = 80
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		var out bytes.Buffer
		a := &app{out: &out, errs: &out, getenv: func(string) string { return "" }}
		line := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := a.run(t.Context(), line); code != exitDone || !strings.Contains(out.String(), "Usage:") {
			t.Errorf("%q: exit status %d\n%s", line, code, &out)
		}
		for text := range strings.Lines(out.String()) {
			if strings.Contains(line[0], "completion") || strings.HasPrefix(text, "Use ") {
				continue // cobra's own
			}
			if n := cells(strings.TrimSuffix(text, "\n")); n > usual {
				t.Errorf("%q has a line of %d columns: %s", line, n, text)
			}
		}
	}
	visit((&app{}).root())
}
