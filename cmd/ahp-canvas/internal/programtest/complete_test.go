package programtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompletion checks that a shell completes from the running host, and offers nothing
// without one.
func TestCompletion(t *testing.T) {
	m := newMachine(t)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out := m.do(0, "completion", shell); !strings.Contains(out, "ahp-canvas") || m.err != "" {
			t.Errorf("%s: %.200s%s", shell, out, m.err)
		}
	}
	complete := func(line string) []string {
		words := strings.Split(line, " ")
		var offered []string
		for line := range strings.Lines(m.do(0, append([]string{"__complete"}, words...)...)) {
			if !strings.HasPrefix(line, ":") {
				offered = append(offered, strings.TrimSuffix(line, "\n"))
			}
		}
		return offered
	}
	if got := complete("open "); len(got) > 0 {
		t.Errorf("without a host: %q", got)
	}
	h := m.bell()
	for line, want := range map[string][]string{
		"open ":                        {"bell\t鐘"},
		"open be":                      {"bell\t鐘"},
		"open x":                       nil,
		"open bell ":                   nil,
		"open bell --extension ":       {"tower"},
		"open bell --instance ":        {"b\t鐘 Bell"},
		"close ":                       {"b\t鐘 Bell"},
		"invoke ":                      {"b\t鐘 Bell"},
		"invoke b ":                    {"ring"},
		"invoke nobody ":               nil,
		"close --session ahp-none:/x ": nil,
		"invoke --host " + h.Endpoints().Page + " b ": {"ring"},
	} {
		if diff := cmp.Diff(want, complete(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}
