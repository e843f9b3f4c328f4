package term

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The exit statuses of the program.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// failure is an operation that failed. Errors of cobra, which are wrong usage, are none.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usageError is a command line that the program does not accept.
type usageError struct {
	text    string
	command *cobra.Command // nil if no command was found
}

func (u *usageError) Error() string { return u.text }

// Usagef returns an error that ends the program with exit status 2.
func Usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// Failf returns an error with a code. It ends the program with exit status 1.
func Failf(code, format string, args ...any) error {
	return &canvas.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// About puts what an error is about before its message, and keeps its code.
func About(what string, err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		named := *e
		named.Message = what + ": " + e.Message
		return &named
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Report prints an error on standard error and returns the exit status. With --json a
// failure is one object. The error's text can come from a provider or a host.
func (e *Env) Report(err error) int {
	if err == nil {
		return ExitDone
	}
	if u, ok := errors.AsType[*usageError](err); ok {
		e.reportUsage(u)
		return ExitUsage
	}
	if _, ok := errors.AsType[*failure](err); !ok { // cobra's own, such as an unknown flag
		e.reportUsage(&usageError{text: err.Error()})
		return ExitUsage
	}
	coded, ok := errors.AsType[*canvas.Error](err)
	switch {
	case e.JSON:
		if !ok {
			coded = &canvas.Error{Code: CodeFailed, Message: err.Error()}
		}
		_ = printJSON(e.Err, errorLine(coded))
	case ok:
		e.reportCoded(coded)
	default:
		fmt.Fprintf(e.Err, "ahp-canvas: %s\n", PrintableLines(err.Error()))
	}
	return ExitFailed
}

func (e *Env) reportCoded(err *canvas.Error) {
	fmt.Fprintf(e.Err, "ahp-canvas: %s: %s\n", Printable(err.Code), PrintableLines(err.Message))
	if hint := HintFor(err); hint != "" {
		fmt.Fprintln(e.Err, "  "+Printable(hint))
	}
}

func (e *Env) reportUsage(u *usageError) {
	fmt.Fprintf(e.Err, "ahp-canvas: %s\n", PrintableLines(u.text))
	if u.command == nil {
		fmt.Fprintln(e.Err, "  Run \"ahp-canvas --help\" for the commands.")
		return
	}
	fmt.Fprintf(e.Err, "  Usage: %s\n  Run \"%s --help\" for details.\n", u.command.UseLine(), u.command.CommandPath())
}

// ErrorLine is a failure as --json prints it.
type ErrorLine struct {
	// Code is the stable name of the failure; CodeFailed if it has none.
	Code string `json:"code"`
	// Message is the text for people.
	Message string `json:"message"`
	// Path is the place in the input that the failure is about.
	Path string `json:"path,omitzero"`
	// Rule is the rule of the schema that the input breaks.
	Rule string `json:"rule,omitzero"`
	// Candidates are the names to choose from if one was ambiguous.
	Candidates []string `json:"candidates,omitzero"`
	// Details is what the provider adds for programs.
	Details ahp.Value `json:"details,omitzero"`
}

func errorLine(e *canvas.Error) ErrorLine {
	text := strings.ToValidUTF8(e.Message, "\uFFFD") // the name of a file can be any bytes
	return ErrorLine{e.Code, text, e.Path, e.Rule, e.Candidates, e.ValidDetails()}
}
