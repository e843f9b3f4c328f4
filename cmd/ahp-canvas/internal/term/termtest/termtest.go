// Package termtest runs commands of ahp-canvas in a test's own process.
package termtest

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Env returns an environment without variables that writes to out and errs.
func Env(out, errs *Buffer) *term.Env {
	return &term.Env{Out: out, Err: errs, Getenv: func(string) string { return "" }}
}

// Run runs one command, and returns its exit status and what it printed.
func Run(t *testing.T, command func(*term.Env) *cobra.Command, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e Buffer
	env := Env(&o, &e)
	cmd := command(env)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{}, args...)) // nil means os.Args
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	status = env.Report(cmd.ExecuteContext(t.Context()))
	return status, o.String(), e.String()
}

// Hostile drives a terminal in each of the ways: ESC, the one-byte CSI of C1, a carriage
// return, and a change of the direction of writing.
const Hostile = "a\x1b[2J\u009b31m\rb\x7f\u202ec\u2028d"

// PrintsSafely fails the test if print, which prints Hostile text, prints a control
// character or nothing. print can panic after it has printed.
func PrintsSafely(t *testing.T, print func(env *term.Env)) {
	t.Helper()
	var out Buffer
	func() {
		defer func() { _ = recover() }()
		print(Env(&out, &out))
	}()
	text := out.String()
	if at := strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), term.IsControl); at >= 0 || text == "" {
		t.Errorf("%q", text)
	}
}

// Buffer can be read while a program writes to it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written so far.
func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
