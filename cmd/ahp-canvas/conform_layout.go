package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

func (p *reportPrinter) head(b *strings.Builder, h conform.Host) {
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
	first, more := wrap(words, p.width)
	for _, line := range append([]string{first}, more...) {
		fmt.Fprintln(b, printable(line))
	}
	fmt.Fprintln(b)
}

// areas is the table of counts, numbers to the right.
func (p *reportPrinter) areas(b *strings.Builder, r *conform.Report) {
	areas, total := r.Areas(), r.Count()
	name := len("everything")
	for _, a := range areas {
		name = max(name, cells(printable(a.Area)))
	}
	row := func(area string, took string, counts ...string) {
		b.WriteString(pad(printable(area), name))
		for _, c := range counts {
			fmt.Fprintf(b, "%10s", c)
		}
		fmt.Fprintf(b, "%10s\n", took)
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
		row(a.Area, took(a.Took), numbers(a.Count)...)
	}
	row("everything", took(r.Took), numbers(total)...)
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func took(d time.Duration) string {
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

func (p *reportPrinter) reasons(b *strings.Builder, r *conform.Report) {
	reasons := r.Skipped()
	if len(reasons) == 0 {
		return
	}
	fmt.Fprintln(b, "\nSKIPPED")
	for _, reason := range reasons {
		for i, line := range fold(printable(reason.Text), p.width-8) {
			if i == 0 {
				fmt.Fprintf(b, "%6d  %s\n", reason.Cases, line)
			} else {
				fmt.Fprintf(b, "        %s\n", line)
			}
		}
	}
}

func (p *reportPrinter) verdict(b *strings.Builder, r *conform.Report) {
	c := r.Count()
	played := c.Cases - c.Skipped
	text := fmt.Sprintf("\n%d of %s passed", c.Passed, counted(played, "case", "cases"))
	if c.Deviates > 0 {
		text += fmt.Sprintf(", %d deviated from what SHOULD be", c.Deviates)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf("; %d were skipped", c.Skipped)
	}
	fmt.Fprintln(b, text+".")
}

// shownFrames is how many frames of an exchange lead up to a failure.
const shownFrames = 6

// failure is one case that did not pass, with the exchange that led to it.
func (p *reportPrinter) failure(b *strings.Builder, r conform.Result) {
	word := "FAILED"
	if r.Status == conform.Deviates {
		word = "DEVIATES"
	}
	rule := strings.TrimSpace(r.Level + " " + r.Place)
	if rule != "" {
		rule = "  (" + rule + ")"
	}
	fmt.Fprintln(b, "\n"+cut(printable(word+"  "+r.Case+rule), p.width))
	problem := r.Problem
	if r.Line > 0 {
		problem = fmt.Sprintf("line %d: %s", r.Line, problem)
	}
	for _, text := range []string{r.Title, problem} {
		lines := fold(printable(text), p.width-2)
		if len(lines) > 3 {
			lines = append(lines[:2], cut(lines[2], p.width-4)+" …")
		}
		for _, line := range lines {
			fmt.Fprintln(b, "  "+line)
		}
	}
	if len(r.Exchange) > 0 {
		fmt.Fprintln(b)
		for _, frame := range r.Exchange[max(0, len(r.Exchange)-shownFrames):] {
			fmt.Fprintln(b, "  "+cut(printable(frame), p.width-2))
		}
	}
	if r.Want != "" || r.Have != "" {
		p.compare(b, r)
	}
}

// compare is what was expected beside what came.
func (p *reportPrinter) compare(b *strings.Builder, r conform.Result) {
	half := (p.width - 7) / 2
	fmt.Fprintf(b, "\n    %s │ %s\n", pad("EXPECTED", half), "ACTUAL")
	for _, row := range conform.SideBySide(r.Want, r.Have, r.Problem) {
		mark := " "
		if row.Differs {
			mark = "≠"
		}
		left, right := column(row.Want, half, row.Differs), column(row.Have, half, row.Differs)
		for i := range max(len(left), len(right)) {
			var l, h string
			if i < len(left) {
				l = left[i]
			}
			if i < len(right) {
				h = right[i]
			}
			fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("  %s %s │ %s", mark, pad(l, half), h), " "))
			mark = " "
		}
	}
}

// column is a cell in lines of a width: all of it where it differs, its beginning
// where it does not.
func column(text string, width int, whole bool) []string {
	text = printable(text)
	if !whole {
		return []string{cut(text, width)}
	}
	lines := split(text, width)
	if len(lines) > 8 {
		lines = append(lines[:8], "…")
	}
	return lines
}

// fold breaks a text between words, and inside those that are too long.
func fold(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && cells(line)+1+cells(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		parts := split(word, width)
		lines = append(lines, parts[:len(parts)-1]...)
		line = parts[len(parts)-1]
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}
