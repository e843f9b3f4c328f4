// Package figure holds and prints the measurements of the comparison.
package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Figure is one comparison. It has our value and the peer's for every round, or
// only ours if the target is absolute.
type Figure struct {
	What   string    // what was measured
	Peer   string    // what ours is compared with; "" if with nothing
	Unit   string    // the unit of the values
	Ours   []float64 // our values, one per round
	Theirs []float64 // the peer's values, one per round
	Target Target    // what should be reached
	Note   string    // printed after What, in parentheses
}

// Target is the bound for the ratio ours/theirs, or for our value if there is
// no peer. The zero value means no target: the figure is informative.
type Target struct {
	AtLeast float64 // lower bound; 0 is none
	AtMost  float64 // upper bound; 0 is none
}

// Judged returns the values that the target applies to: the ratio of each
// round, or our values if there is no peer.
func (f *Figure) Judged() []float64 {
	if f.Peer == "" {
		return f.Ours
	}
	var ratios []float64
	for i := range min(len(f.Ours), len(f.Theirs)) {
		ratios = append(ratios, f.Ours[i]/f.Theirs[i])
	}
	return ratios
}

// Verdict returns "ok" or "MISSED" by the median, or "" if there is no target.
func (f *Figure) Verdict() string {
	switch m := Median(f.Judged()); {
	case f.Target == Target{}:
		return ""
	case math.IsNaN(m), f.Target.AtLeast > 0 && m < f.Target.AtLeast, f.Target.AtMost > 0 && m > f.Target.AtMost:
		return "MISSED"
	}
	return "ok"
}

// Columns names the cells of Row.
var Columns = []string{"what", "ours", "theirs", "ratio (range)", "target", ""}

// Row returns the figure as the cells of a table.
func (f *Figure) Row() []string {
	theirs, ratio, suffix := "", "", " "+f.Unit
	if f.Peer != "" {
		theirs = f.Peer + " " + value(f.Theirs, f.Unit)
		r := f.Judged()
		ratio = fmt.Sprintf("%s x (%s - %s)", number(Median(r)), number(slices.Min(r)), number(slices.Max(r)))
		suffix = " x"
	} else if len(f.Ours) > 1 {
		ratio = fmt.Sprintf("(%s - %s)", number(slices.Min(f.Ours)), number(slices.Max(f.Ours)))
	}
	target := ""
	switch {
	case f.Target.AtLeast > 0:
		target = "at least " + number(f.Target.AtLeast) + suffix
	case f.Target.AtMost > 0:
		target = "at most " + number(f.Target.AtMost) + suffix
	}
	what := f.What
	if f.Note != "" {
		what += " (" + f.Note + ")"
	}
	return []string{what, value(f.Ours, f.Unit), theirs, ratio, strings.TrimSpace(target), f.Verdict()}
}

func value(v []float64, unit string) string { return number(Median(v)) + " " + unit }

// number formats a value with three significant digits, and commas.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "?"
	case a >= 1000:
		s := fmt.Sprintf("%.0f", v)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a == math.Trunc(a):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Median returns the median of the values, or NaN if there are none.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(v))
	half := len(v) / 2
	if len(v)%2 == 0 {
		return (sorted[half-1] + sorted[half]) / 2
	}
	return sorted[half]
}

// Quantile returns a quantile of durations in microseconds. It sorts d.
func Quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	slices.Sort(d)
	return float64(d[min(int(q*float64(len(d))), len(d)-1)]) / 1e3
}
