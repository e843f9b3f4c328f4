package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// run is an hour of measurements.
func measurements(value func(i int) float64) *measured {
	m := &measured{quantity: quantity{"memory", "MiB", 1, 5}}
	for i := range 360 {
		m.at, m.values = append(m.at, time.Duration(i)*10*time.Second), append(m.values, value(i))
	}
	return m
}

// TestJudge checks the verdict: noise and a warm-up are flat, and what grows in them is
// found.
func TestJudge(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		m    *measured
		flat bool
	}{
		"constant":        {measurements(func(int) float64 { return 40 }), true},
		"noise":           {measurements(func(int) float64 { return 40 + 10*random.Float64() }), true},
		"a warm-up":       {measurements(func(i int) float64 { return min(40, float64(i)) }), true},
		"a leak":          {measurements(func(i int) float64 { return 40 + float64(i)/100 }), false},
		"a leak in noise": {measurements(func(i int) float64 { return 40 + float64(i)/36 + random.Float64() }), false},
		"a saw":           {measurements(func(i int) float64 { return 40 + float64(i%40) }), true},
		"shrinks":         {measurements(func(i int) float64 { return 40 - float64(i)/10 }), true},
		"left behind":     {&measured{quantity: quantity{"files", "", 1, 2}, before: 10, after: 13}, false},
	} {
		if row, wrong := c.m.judge(); wrong == "" != c.flat {
			t.Errorf("%s: %s %q", name, row, wrong)
		}
	}
	l := fit([]time.Duration{0, time.Hour, 2 * time.Hour, 3 * time.Hour}, []float64{1, 3, 5, 7})
	if math.Abs(l.slope-2) > 1e-9 || l.stderr > 1e-9 {
		t.Errorf("%+v, want a slope of 2", l)
	}
}

// TestSlowed checks the comparison of latencies.
func TestSlowed(t *testing.T) {
	t.Parallel()
	took := func(start, end time.Duration) (all []time.Duration) {
		for i := range 400 {
			all = append(all, start+(end-start)*time.Duration(i)/400)
		}
		return all
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		took []time.Duration
		fine bool
	}{
		"none":          {nil, false},
		"equal":         {took(30*ms, 30*ms), true},
		"slow":          {took(10*ms, 90*ms), false},
		"slow but fine": {took(ms, 19*ms), true},
	} {
		if start, end, wrong := slowed(c.took, 20*ms); wrong == "" != c.fine {
			t.Errorf("%s: %s, %s: %q", name, start, end, wrong)
		}
	}
}
