package check

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

func TestLine(t *testing.T) {
	l := &Limits{Limits: canvas.DefaultLimits()}
	long := strings.Repeat("ä", 512)
	for text, want := range map[string]string{
		"":                      "",
		"two  spaces ":          "two  spaces ",
		"two\r\n\n lines\t":     "two lines",
		"a\u2028b\x00c\u0085d":  "a b c d",
		"\u202egpj.exe\u2069":   "gpj.exe",
		"bad\xff bytes":         "bad bytes",
		"\n":                    "",
		long:                    long,
		long + "ä":              long[:2*511] + "…",
		long + "\n":             long,
		"👩\u200d👩\u200d👧 stays": "👩\u200d👩\u200d👧 stays",
	} {
		if got := l.Line(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
