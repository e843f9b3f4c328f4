package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// The widths that output is laid out for, in columns.
const (
	narrowest  = 60
	usualWidth = 100 // of an output that is no terminal
	widest     = 160
	helpWidth  = 80 // of help that is not read on a terminal, but in a pager
)

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Columns returns how wide a report on standard output can be.
func (e *Env) Columns() int { return columns(e.Out) }

// HelpColumns returns how wide the help of flags can be.
func (e *Env) HelpColumns() int {
	if !IsTerminal(e.Out) {
		return helpWidth
	}
	return columns(e.Out)
}

func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return usualWidth
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return usualWidth
	}
	return min(max(width, narrowest), widest)
}
