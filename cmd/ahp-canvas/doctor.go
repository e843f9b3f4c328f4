package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// How a check ended. A warning is what works otherwise than expected, or what
// could not be checked.
const (
	statusOK      = "ok"
	statusWarning = "warning"
	statusFailed  = "failed"
)

const codeUnwell = "checks_failed"

// patience bounds each check that asks somebody else.
const patience = 5 * time.Second

// finding is what a check found: a line of doctor.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitzero"` // what to do
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check host, tokens, browser and folders",
		Long: `Check what a canvas needs on its way to a person, say what was found and what to
do: the folders that hold secrets, the running host, its listener and tokens,
the origins of canvases, the browser and its service workers.

The service worker is checked in a headless Chromium, with a small page of
doctor's own that holds no token.

With --json each line is one object: {"check","status","found","advice"?}, where
status is ok, warning or failed. The exit status is 1 where a check failed.`,
		Args: takes(),
		RunE: does(func(ctx context.Context, _ []string) error { return a.doctor(ctx) }),
	}
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	return cmd
}

func (a *app) doctor(ctx context.Context) error {
	d := &doctor{app: a}
	d.folders()
	if to, ok := d.findHost(); ok {
		d.examine(ctx, to)
	}
	d.browser(ctx)
	switch {
	case d.broken != nil:
		return d.broken
	case ctx.Err() != nil:
		return failf(codeUnwell, "interrupted before everything was checked")
	case d.failed > 0:
		return failf(codeUnwell, "%d of %d checks failed", d.failed, d.done)
	}
	return nil
}

// doctor makes findings and says each at once.
type doctor struct {
	*app
	done, failed int
	broken       error // of the output
}

func (d *doctor) ok(check, format string, args ...any) {
	d.say(finding{check, statusOK, fmt.Sprintf(format, args...), ""})
}

func (d *doctor) warn(check, found, advice string) {
	d.say(finding{check, statusWarning, found, advice})
}

func (d *doctor) fail(check, found, advice string) {
	d.say(finding{check, statusFailed, found, advice})
}

func (d *doctor) say(f finding) {
	d.done++
	if f.Status == statusFailed {
		d.failed++
	}
	if d.broken != nil {
		return
	}
	if d.json {
		d.broken = printLine(d.out, f)
		return
	}
	text := fmt.Sprintf("%s  %s  %s\n", pad(f.Status, 7), pad(f.Check, 15), printable(f.Found))
	if f.Advice != "" {
		text += pad("", 26) + printable(f.Advice) + "\n"
	}
	_, d.broken = fmt.Fprint(d.out, text)
}
