package term

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Env is the process as a command sees it. Tests replace its parts.
type Env struct {
	// In, Out and Err are the standard streams.
	In       io.ReadCloser
	Out, Err io.Writer
	// Getenv returns an environment variable, or "".
	Getenv func(string) string
	// Version is the version of the program.
	Version string
	// JSON is set by --json.
	JSON bool
}

// JSONFlag adds --json.
func (e *Env) JSONFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.JSON, "json", false, "print one JSON object per line")
}

// PrintJSON prints a value as one line of JSON on standard output.
func (e *Env) PrintJSON(v any) error { return printJSON(e.Out, v) }

// Note prints a note on standard error. The text can come from a provider.
func (e *Env) Note(text string) {
	fmt.Fprintln(e.Err, "Note:", PrintableLines(text))
}

// Hint prints a line on standard error if a person reads it: if it is a terminal. The text
// can come from a provider.
func (e *Env) Hint(text string) {
	if IsTerminal(e.Err) {
		fmt.Fprintln(e.Err, PrintableLines(text))
	}
}

// StatusLine gives standard error a status line if it is a terminal, and returns nil
// otherwise. From then on, e.Err writes above that line.
func (e *Env) StatusLine() *StatusLine {
	if !IsTerminal(e.Err) {
		return nil
	}
	line := &StatusLine{w: e.Err}
	e.Err = line
	return line
}

// NopCloser keeps a library from closing a standard stream of the process.
func NopCloser(w io.Writer) io.WriteCloser { return nopCloser{w} }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
