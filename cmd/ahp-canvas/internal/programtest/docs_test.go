package programtest

import (
	"strings"
	"testing"
)

// TestDocsOfBundledCanvases runs the commands that the documentation has for the bundled
// canvases, as they stand.
func TestDocsOfBundledCanvases(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.serve("--state", "memory", "--browser", "none")
	_, section, _ := strings.Cut(m.do(0, "docs", "canvases"), "Bundled ones")
	section, _, _ = strings.Cut(section, "A page that the agent writes")
	m.via = []string{"sh", "-c", `eval "exec \"\$0\" $1"`}
	outputs := map[string]string{}
	for line := range strings.Lines(section) {
		if args, ok := strings.CutPrefix(line, "    ahp-canvas "); ok {
			outputs[strings.TrimSpace(args)] = m.do(0, strings.TrimSpace(args))
		}
	}
	for line, want := range map[string]string{
		"ls":                        "chart",
		"describe form":             "get_answer",
		"invoke sprint get_board":   "Write the notes",
		"invoke release get_answer": `"revision"`,
		"invoke sales get_query":    "Sold",
	} {
		if !strings.Contains(outputs[line], want) {
			t.Errorf("%q printed %q, which has no %s", line, outputs[line], want)
		}
	}
	if len(outputs) != 9 {
		t.Errorf("%d commands", len(outputs))
	}
}
