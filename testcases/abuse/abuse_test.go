package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/built"
)

// TestMain makes this test the process that an attack started it for.
func TestMain(m *testing.M) {
	if code, ok := child(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// stopped is a p99 beside an attack that other tests on the machine do not explain.
const stopped = 2 * time.Second

// TestAttacks runs the short form of every attack against the program, and with AHP_LONG
// the whole form: the host's memory stays below its budget and a quarter, and is free
// again afterwards; the client that behaves is neither disconnected nor refused. Its
// latency is only checked against its limit in the whole form, because other tests use
// the processor.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program for each attack")
	}
	if runtime.GOOS != "linux" {
		t.Skip("measures the memory of a process as Linux shows it")
	}
	path, remove, err := built.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	o := options{binary: path, memory: 256, short: os.Getenv("AHP_LONG") == "", rounds: 3}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			r, err := measure(t.Context(), a, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s\n%s", header, r)
			for _, harm := range r.harm {
				if harm != slowed || !o.short || r.beside.p99() > max(20*r.quiet.p99(), stopped) {
					t.Error(harm)
				}
			}
		})
	}
}

// TestJudge checks the verdict.
func TestJudge(t *testing.T) {
	const budget = 100 << 20
	met := func(all ...time.Duration) (p phases) {
		for _, d := range all {
			p = append(p, latency{Took: []time.Duration{d}})
		}
		return p
	}
	fine := met(30 * time.Millisecond)
	for name, c := range map[string]struct {
		r    result
		harm int
	}{
		"nothing":       {result{before: 30 << 20, during: 120 << 20, after: 40 << 20, quiet: fine, beside: fine}, 0},
		"memory":        {result{before: 30 << 20, during: 130 << 20, after: 40 << 20, quiet: fine, beside: fine}, 1},
		"memory kept":   {result{before: 30 << 20, during: 120 << 20, after: 60 << 20, quiet: fine, beside: fine}, 1},
		"refused":       {result{quiet: fine, beside: phases{{}, {Failed: 1}, {}}}, 1},
		"slowed":        {result{quiet: fine, beside: met(61 * time.Millisecond)}, 1},
		"slowed once":   {result{quiet: fine, beside: met(time.Second, 50*time.Millisecond, 40*time.Millisecond)}, 0},
		"slowed often":  {result{quiet: met(time.Second, 30*time.Millisecond, 20*time.Millisecond), beside: met(61*time.Millisecond, 70*time.Millisecond, 40*time.Millisecond)}, 1},
		"slow but fine": {result{beside: met(tolerable)}, 0},
	} {
		if c.r.judge(budget); len(c.r.harm) != c.harm {
			t.Errorf("%s: %q", name, c.r.harm)
		}
	}
}

func TestLargeFilesAreACanvas(t *testing.T) {
	folder, err := largeFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.bin"))
	if err != nil || len(files) != largeCount {
		t.Errorf("%q: %v", files, err)
	}
}
