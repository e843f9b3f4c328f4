package conform

import (
	"fmt"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// layout is a report as text, at most width columns wide.
type layout struct {
	strings.Builder
	width int
}

func (l *layout) line(text string) { fmt.Fprintln(l, text) }

func (l *layout) head(h conform.Host) {
	if h.URL == "" {
		return
	}
	words := []string{h.URL}
	if h.Name != "" {
		words = append(words, h.Name)
	}
	words = append(words, "AHP "+h.Version)
	if h.Canvas {
		words = append(words, "Canvas")
	}
	first, more := term.Wrap(words, l.width)
	for _, line := range append([]string{first}, more...) {
		l.line(term.Printable(line))
	}
	l.line("")
}

// areas is the table of counts. Its numbers are aligned to the right.
func (l *layout) areas(r *conform.Report) {
	areas, total := r.Areas(), r.Count()
	name := len("everything")
	for _, a := range areas {
		name = max(name, term.Width(term.Printable(a.Area)))
	}
	row := func(area string, took string, counts ...string) {
		l.WriteString(term.Pad(term.Printable(area), name))
		for _, c := range counts {
			fmt.Fprintf(l, "%10s", c)
		}
		fmt.Fprintf(l, "%10s\n", took)
	}
	heads := []string{"CASES", "PASSED", "FAILED", "SKIPPED"}
	if total.Deviates > 0 {
		heads = []string{"CASES", "PASSED", "FAILED", "DEVIATES", "SKIPPED"}
	}
	numbers := func(c conform.Count) []string {
		out := []string{number(c.Cases), number(c.Passed), number(c.Failed), number(c.Skipped)}
		if total.Deviates > 0 {
			out = []string{number(c.Cases), number(c.Passed), number(c.Failed), number(c.Deviates), number(c.Skipped)}
		}
		return out
	}
	row("AREA", "TIME", heads...)
	for _, a := range areas {
		row(a.Area, duration(a.Took), numbers(a.Count)...)
	}
	row("everything", duration(r.Took), numbers(total)...)
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func duration(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < 10*time.Millisecond:
		return "<10ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// reasons lists why cases were skipped.
func (l *layout) reasons(r *conform.Report) {
	reasons := r.Skipped()
	if len(reasons) == 0 {
		return
	}
	l.line("\nSKIPPED")
	for _, reason := range reasons {
		for i, line := range term.Fold(term.Printable(reason.Text), l.width-8) {
			if i == 0 {
				fmt.Fprintf(l, "%6d  %s\n", reason.Cases, line)
			} else {
				l.line("        " + line)
			}
		}
	}
}

func (l *layout) verdict(r *conform.Report) {
	c := r.Count()
	played := c.Cases - c.Skipped
	text := fmt.Sprintf("\n%d of %s passed", c.Passed, term.Count(played, "case", "cases"))
	if c.Deviates > 0 {
		text += fmt.Sprintf(", %d deviated from a SHOULD rule", c.Deviates)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf("; %d were skipped", c.Skipped)
	}
	l.line(text + ".")
}

// shownFrames is how many frames of an exchange are printed before a failure.
const shownFrames = 6

// failure is one case that did not pass, with the exchange that led to it.
func (l *layout) failure(r conform.Result) {
	word := "FAILED"
	if r.Status == conform.Deviates {
		word = "DEVIATES"
	}
	rule := strings.TrimSpace(r.Level + " " + r.Place)
	if rule != "" {
		rule = "  (" + rule + ")"
	}
	l.line("\n" + term.Cut(term.Printable(word+"  "+r.Case+rule), l.width))
	problem := r.Problem
	if r.Line > 0 {
		problem = fmt.Sprintf("line %d: %s", r.Line, problem)
	}
	for _, text := range []string{r.Title, problem} {
		lines := term.Fold(term.Printable(text), l.width-2)
		if len(lines) > 3 {
			lines = append(lines[:2], term.Cut(lines[2], l.width-4)+" …")
		}
		for _, line := range lines {
			l.line("  " + line)
		}
	}
	if len(r.Exchange) > 0 {
		l.line("")
		for _, frame := range r.Exchange[max(0, len(r.Exchange)-shownFrames):] {
			l.line("  " + term.Cut(term.Printable(frame), l.width-2))
		}
	}
	if r.Want != "" || r.Have != "" {
		l.compare(r)
	}
}

// compare prints the expected and the actual message side by side.
func (l *layout) compare(r conform.Result) {
	half := (l.width - 7) / 2
	fmt.Fprintf(l, "\n    %s │ %s\n", term.Pad("EXPECTED", half), "ACTUAL")
	for _, row := range conform.SideBySide(r.Want, r.Have, r.Problem) {
		mark := " "
		if row.Differs {
			mark = "≠"
		}
		left, right := column(row.Want, half, row.Differs), column(row.Have, half, row.Differs)
		for i := range max(len(left), len(right)) {
			line := fmt.Sprintf("  %s %s │ %s", mark, term.Pad(at(left, i), half), at(right, i))
			l.line(strings.TrimRight(line, " "))
			mark = " "
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// maxCellLines is how many lines of a cell that differs are printed.
const maxCellLines = 8

// column breaks a cell into lines of a width: all of it if it differs, otherwise only its
// first line.
func column(text string, width int, whole bool) []string {
	text = term.Printable(text)
	if !whole {
		return []string{term.Cut(text, width)}
	}
	lines := term.Split(text, width)
	if len(lines) > maxCellLines {
		lines = append(lines[:maxCellLines], "…")
	}
	return lines
}
