package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

var quoted = regexp.MustCompile("\"[^\"]*\"|'[^']*'")

// TestDocsCommands checks that each command in the documentation is one of this program,
// with its flags. Most of the same commands run in the README's test.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile("(?m)^    ahp-canvas (.*)$|`ahp-canvas ([a-z][^`]*)`")
	found := 0
	for _, topic := range []string{"start", "canvases", "neighbors", "relay", "operate", "security"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), testEnv(&out, &errs), []string{"docs", topic}); code != term.ExitDone {
			t.Fatal(errs.String())
		}
		for _, m := range line.FindAllStringSubmatch(out.String(), -1) {
			found++
			checkCommand(t, strings.Fields(quoted.ReplaceAllString(m[1]+m[2], "quoted")))
		}
	}
	if found < 25 {
		t.Errorf("found %d commands", found)
	}
}

func checkCommand(t *testing.T, words []string) {
	root := newRoot(testEnv(nil, nil))
	root.InitDefaultCompletionCmd(words...)
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		t.Errorf("no command %q: %v", words, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil && len(rest) > 0 {
		t.Errorf("%q: %v", words, err)
	}
}
