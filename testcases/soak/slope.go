package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// line is a straight line through measurements.
type line struct {
	slope  float64 // per hour
	stderr float64 // the standard error of the slope; infinite for fewer than three points
}

// blocks is how many means a line goes through.
const blocks = 12

// fit puts a line through measurements, by least squares through the means of blocks.
func fit(at []time.Duration, values []float64) line {
	x, y := means(at, values)
	n := float64(len(x))
	if n < 3 {
		return line{0, math.Inf(1)}
	}
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var sxx, sxy, rest float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope := sxy / sxx
	for i := range x {
		d := y[i] - my - slope*(x[i]-mx)
		rest += d * d
	}
	return line{slope, math.Sqrt(rest / (n - 2) / sxx)}
}

// means divides measurements into blocks of equal length, and returns the mean time in
// hours and the mean value of each.
func means(at []time.Duration, values []float64) (x, y []float64) {
	n := min(blocks, len(at))
	for b := range n {
		from, to := b*len(at)/n, (b+1)*len(at)/n
		var sx, sy float64
		for i := from; i < to; i++ {
			sx, sy = sx+at[i].Hours(), sy+values[i]
		}
		x, y = append(x, sx/float64(to-from)), append(y, sy/float64(to-from))
	}
	return x, y
}

// grows reports whether a line rises more than a tolerance per hour.
func (l line) grows(tolerance float64) bool { return l.slope-2*l.stderr > tolerance }

// quantity is something that is measured during a run.
type quantity struct {
	name, unit string
	tolerance  float64 // how much it may grow in an hour, in units
	spare      float64 // how much more it may be when the load has ended than before; infinite if that says nothing
}

// measured is a quantity with its measurements.
type measured struct {
	quantity
	before, after float64 // the load
	at            []time.Duration
	values        []float64
}

// settled returns the line through what was measured after the first third.
func (m *measured) settled() line {
	from := len(m.at) / 3
	return fit(m.at[from:], m.values[from:])
}

// judge returns a row of the report, and what is wrong; "" if it is flat.
func (m *measured) judge() (row, wrong string) {
	l := m.settled()
	row = fmt.Sprintf("%-18s %10.1f %10.1f %10.1f %10.1f   %+9.2f ± %-8.2f %s/h", m.name, m.before, m.first(), m.last(), m.after, l.slope, l.stderr, m.unit)
	switch {
	case l.grows(m.tolerance):
		wrong = fmt.Sprintf("%s grows by %.2f ± %.2f %s/h, more than %.2f", m.name, l.slope, l.stderr, m.unit, m.tolerance)
	case m.after > m.before+m.spare:
		wrong = fmt.Sprintf("%s: %.1f %s before the load and %.1f after it", m.name, m.before, m.unit, m.after)
	}
	return row, wrong
}

// first and last are the means of the first block after the first third, and of the last.
func (m *measured) first() float64 {
	from := len(m.at) / 3
	_, y := means(m.at[from:], m.values[from:])
	return append(y, math.NaN())[0]
}

func (m *measured) last() float64 {
	from := len(m.at) / 3
	_, y := means(m.at[from:], m.values[from:])
	return append([]float64{math.NaN()}, y...)[len(y)]
}

const header = "                       before      first       last      after       slope"

// p99 is the latency that one of a hundred exceeds.
func p99(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*99/100]
}

// slowed compares the latencies of the first quarter with those of the last one. Up to
// tolerable nothing is slow.
func slowed(took []time.Duration, tolerable time.Duration) (start, end time.Duration, wrong string) {
	n := len(took) / 4
	if n == 0 {
		return 0, 0, "no latencies were measured"
	}
	start, end = p99(took[:n]), p99(took[len(took)-n:])
	if end > max(2*start, tolerable) {
		wrong = fmt.Sprintf("the p99 was %s at the start and is %s at the end", start, end)
	}
	return start, end, wrong
}
