package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// reportFlags adds what conform and check have in common.
func reportFlags(cmd *cobra.Command, junit *string, everything *bool) {
	cmd.Flags().StringVar(junit, "junit", "", "write the report as JUnit XML to this file too")
	cmd.Flags().BoolVar(everything, "all", false, "name every case, not only those that did not pass")
	must(cmd.MarkFlagFilename("junit", "xml"))
}

// reportPrinter says how cases went: as they end, and all together.
type reportPrinter struct {
	app        *app
	name       string   // of the command
	junit      *os.File // nil writes none
	everything bool
	width      int
	ended      int
	broken     error // of the output
}

// newReport opens what the report is written to, before anything is played.
func (a *app) newReport(junit, name string, everything bool) (*reportPrinter, error) {
	p := &reportPrinter{app: a, name: name, everything: everything, width: terminalWidth(a.out)}
	if junit == "" {
		return p, nil
	}
	f, err := os.Create(junit)
	if err != nil {
		return nil, fmt.Errorf("--junit: %w", err)
	}
	p.junit = f
	return p, nil
}

// The widths that a report is laid out for.
const (
	narrowest    = 60
	usualWidth   = 100 // where nobody says
	widestReport = 160
)

func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return usualWidth
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return usualWidth
	}
	return min(max(width, narrowest), widestReport)
}

// caseLine is a case with --json.
type caseLine struct {
	conform.Result
	Seconds float64 `json:"seconds"`
}

// summaryLine is the last line with --json.
type summaryLine struct {
	Summary summary `json:"summary"`
}

type summary struct {
	Host *conform.Host `json:"host,omitzero"`
	conform.Count
	Reasons []conform.Reason `json:"skippedFor"`
	Seconds float64          `json:"seconds"`
}

// done is told of each case as it ends.
func (p *reportPrinter) done(r conform.Result) {
	p.ended++
	switch {
	case p.broken != nil:
	case p.app.json:
		p.broken = printLine(p.app.out, caseLine{r, r.Took.Seconds()})
	case p.everything:
		p.clear()
		line := fmt.Sprintf("%s  %s", pad(string(r.Status), 8), r.Case)
		_, p.broken = fmt.Fprintln(p.app.out, cut(printable(line), p.width))
	}
	if isTerminal(p.app.errs) && !p.app.json {
		fmt.Fprintf(p.app.errs, "%s  %d cases, now %s", eraseLine, p.ended, cut(printable(r.Case), 40))
	}
}

// clear takes the line of progress away.
func (p *reportPrinter) clear() {
	if isTerminal(p.app.errs) && !p.app.json {
		fmt.Fprint(p.app.errs, eraseLine)
	}
}

// abandon leaves no half of a report behind.
func (p *reportPrinter) abandon() {
	p.clear()
	if p.junit != nil {
		_ = p.junit.Close()
		_ = os.Remove(p.junit.Name())
	}
}

// finish prints the report; its error is the command's.
func (p *reportPrinter) finish(r *conform.Report) error {
	p.clear()
	if p.junit != nil {
		err := r.WriteJUnit(p.junit, "ahp-canvas "+p.name)
		if closed := p.junit.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if p.broken == nil {
		p.broken = p.print(r)
	}
	count := r.Count()
	switch {
	case p.broken != nil:
		return p.broken
	case count.Cases == 0:
		return &usage{text: "no case has such a name: --only takes a part of one, as in reconnect/ or canvas/open"}
	case count.Failed > 0:
		return failf(codeUnfit, "%d of %s failed", count.Failed, counted(count.Cases-count.Skipped, "case", "cases"))
	case count.Passed+count.Deviates == 0:
		return failf(codeUnfit, "all %s were skipped: the reasons above say what is missing", counted(count.Cases, "case", "cases"))
	}
	return nil
}

// The codes of a report with failures, and of one that is not whole.
const (
	codeUnfit       = "cases_failed"
	codeInterrupted = "interrupted"
)

func (p *reportPrinter) print(r *conform.Report) error {
	if p.app.json {
		s := summary{Count: r.Count(), Reasons: r.Skipped(), Seconds: r.Took.Seconds()}
		if r.Host.URL != "" {
			s.Host = &r.Host
		}
		return printLine(p.app.out, summaryLine{s})
	}
	var b strings.Builder
	p.head(&b, r.Host)
	p.areas(&b, r)
	p.reasons(&b, r)
	for _, status := range []conform.Status{conform.Deviates, conform.Failed} {
		for _, result := range r.Results {
			if result.Status == status {
				p.failure(&b, result)
			}
		}
	}
	p.verdict(&b, r)
	_, err := io.WriteString(p.app.out, b.String())
	return err
}
