package term

import (
	"bytes"
	"testing"
)

// TestStyle: nothing but a terminal gets marks, and the zero Style adds none.
func TestStyle(t *testing.T) {
	env := &Env{Out: &bytes.Buffer{}, Getenv: func(string) string { return "" }}
	if got := env.Style().Bold("a"); got != "a" {
		t.Errorf("%q in a pipe", got)
	}
	if got := (Style{on: true}).Good("a") + (Style{on: true}).Good(""); got != "\x1b[32ma\x1b[0m" {
		t.Errorf("%q on a terminal", got)
	}
}
