package conform

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// reportOptions are the flags that conform and check share.
type reportOptions struct {
	junit string // file; "" writes none
	all   bool
}

func (o *reportOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.junit, "junit", "", "also write the report as JUnit XML to this `file`")
	cmd.Flags().BoolVar(&o.all, "all", false, "print every case, not only those that did not pass")
	term.Must(cmd.MarkFlagFilename("junit", "xml"))
}

// report prints how cases went: each as it ends, and all together.
type report struct {
	env      *term.Env
	command  string
	junit    *os.File // nil writes none
	all      bool
	width    int
	ended    int
	printErr error
}

// newReport opens the files of a report, so that a wrong name is known before any case is
// played.
func newReport(env *term.Env, o reportOptions, command string) (*report, error) {
	p := &report{env: env, command: command, all: o.all, width: env.Columns()}
	if o.junit == "" {
		return p, nil
	}
	f, err := os.Create(o.junit)
	if err != nil {
		return nil, fmt.Errorf("--junit: %w", err)
	}
	p.junit = f
	return p, nil
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

// add adds a case that has ended.
func (p *report) add(r conform.Result) {
	p.ended++
	switch {
	case p.printErr != nil:
	case p.env.JSON:
		p.printErr = p.env.PrintJSON(caseLine{r, r.Took.Seconds()})
	case p.all:
		p.env.ShowCount("")
		line := term.Cut(term.Printable(fmt.Sprintf("%s  %s", term.Pad(string(r.Status), 8), r.Case)), p.width)
		if r.Reason != "" {
			line += ": " + term.Printable(r.Reason)
		}
		_, p.printErr = fmt.Fprintln(p.env.Out, line)
	}
	p.env.ShowCount(fmt.Sprintf("  %d cases, now %s", p.ended, term.Cut(term.Printable(r.Case), 40)))
}

// abandon removes the file of a report that will not be finished.
func (p *report) abandon() {
	p.env.ShowCount("")
	if p.junit != nil {
		_ = p.junit.Close()
		_ = os.Remove(p.junit.Name())
	}
}

// finish prints the report. Its error is the command's.
func (p *report) finish(r *conform.Report) error {
	p.env.ShowCount("")
	if err := p.writeJUnit(r); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	if p.printErr == nil {
		p.printErr = p.print(r)
	}
	count := r.Count()
	switch {
	case p.printErr != nil:
		return p.printErr
	case count.Cases == 0:
		return term.Usagef("no case has such a name; --only takes a part of one, as in reconnect/ or canvas/open")
	case count.Failed > 0:
		return term.Failf(codeCasesFailed, "%d of %s failed", count.Failed, term.Count(count.Cases-count.Skipped, "case", "cases"))
	case count.Passed+count.Deviates == 0:
		return term.Failf(codeCasesFailed, "all %s were skipped; the reasons above say what is missing", term.Count(count.Cases, "case", "cases"))
	}
	return nil
}

func (p *report) writeJUnit(r *conform.Report) error {
	if p.junit == nil {
		return nil
	}
	err := r.WriteJUnit(p.junit, "ahp-canvas "+p.command)
	if closed := p.junit.Close(); err == nil {
		err = closed
	}
	return err
}

// The codes of a report with failures, and of an incomplete report.
const (
	codeCasesFailed = "cases_failed"
	codeInterrupted = "interrupted"
)

func (p *report) print(r *conform.Report) error {
	if p.env.JSON {
		s := summary{Count: r.Count(), Reasons: r.Skipped(), Seconds: r.Took.Seconds()}
		if r.Host.URL != "" {
			s.Host = &r.Host
		}
		return p.env.PrintJSON(summaryLine{s})
	}
	l := layout{width: p.width}
	l.head(r.Host)
	l.areas(r)
	l.reasons(r)
	for _, status := range []conform.Status{conform.Deviates, conform.Failed} {
		for _, result := range r.Results {
			if result.Status == status {
				l.failure(result)
			}
		}
	}
	l.verdict(r)
	_, err := io.WriteString(p.env.Out, l.String())
	return err
}
