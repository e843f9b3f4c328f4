package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// The values of Finding.Status.
const (
	StatusOK      = "ok"
	StatusWarning = "warning" // it works differently than expected, or could not be checked
	StatusFailed  = "failed"
)

// timeout limits each check that waits for another program.
const timeout = 5 * time.Second

// Finding is the result of a check: a line of doctor.
type Finding struct {
	// Check is the name of the check.
	Check string `json:"check"`
	// Status is one of the constants above.
	Status string `json:"status"`
	// Found is what was found.
	Found string `json:"found"`
	// Advice is what to do about it, or "".
	Advice string `json:"advice,omitzero"`
}

// Command returns doctor.
func Command(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check host, tokens, browser and folders",
		Long: `Check everything between a canvas and the person who looks at it: the folders
that hold secrets, the running host with its listener and tokens, the origins of
canvases, and the browser with its service workers. Each problem is printed with
advice.

The service worker is checked in a headless browser, with a small page of
doctor's own that holds no token.

With --json each line is one object: {"check","status","found","advice"?}, where
status is ok, warning or failed. The exit status is 1 if a check failed.`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return run(ctx, env, to) }),
	}
	env.JSONFlag(cmd)
	to.Flags(cmd)
	return cmd
}

func run(ctx context.Context, env *term.Env, to reach.Target) error {
	d := &doctor{env: env}
	d.checkFolders()
	if h, ok := d.findHost(to); ok {
		d.checkHost(ctx, h)
	}
	d.checkBrowser(ctx)
	switch {
	case d.printErr != nil:
		return d.printErr
	case ctx.Err() != nil:
		return term.Failf(term.CodeChecksFailed, "interrupted before everything was checked")
	case d.failed > 0:
		return term.Failf(term.CodeChecksFailed, "%d of %d checks failed", d.failed, d.done)
	}
	return nil
}

// doctor prints findings and counts them.
type doctor struct {
	env          *term.Env
	done, failed int
	printErr     error
}

func (d *doctor) ok(check, format string, args ...any) {
	d.report(Finding{check, StatusOK, fmt.Sprintf(format, args...), ""})
}

func (d *doctor) warn(check, found, advice string) {
	d.report(Finding{check, StatusWarning, found, advice})
}

func (d *doctor) fail(check, found, advice string) {
	d.report(Finding{check, StatusFailed, found, advice})
}

func (d *doctor) report(f Finding) {
	d.done++
	if f.Status == StatusFailed {
		d.failed++
	}
	if d.printErr != nil {
		return
	}
	if d.env.JSON {
		d.printErr = d.env.PrintJSON(f)
		return
	}
	const indent = 7 + 2 + 15 + 2
	head := d.mark(f.Status) + "  " + term.Pad(f.Check, 15) + "  "
	var text strings.Builder
	for _, line := range append(d.lines(f.Found, indent), d.lines(f.Advice, indent)...) {
		text.WriteString(head + line + "\n")
		head = strings.Repeat(" ", indent)
	}
	_, d.printErr = fmt.Fprint(d.env.Out, text.String())
}

// mark is a status in a column, in its color on a terminal.
func (d *doctor) mark(status string) string {
	padded, style := term.Pad(status, 7), d.env.Style()
	switch status {
	case StatusOK:
		return style.Good(padded)
	case StatusFailed:
		return style.Bad(padded)
	}
	return style.Bold(padded)
}

// lines breaks a text to fit a terminal, beside an indentation. Other outputs get one line.
func (d *doctor) lines(text string, indent int) []string {
	text = term.Printable(text)
	if text != "" && !term.IsTerminal(d.env.Out) {
		return []string{text}
	}
	return term.Fold(text, d.env.Columns()-indent)
}
