//go:build unix

package a2ui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// processorTime returns what this process has used, its garbage collection included.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestCost logs what a message costs the host, and what it costs the official core in Node:
// the messages of the examples, as JSON, each example on a new renderer, both warm and in
// turns, in processor time, which a busy machine does not change much. The core checks no
// schemas. It runs with AHP_LONG=1, because it takes long.
func TestCost(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("needs AHP_LONG=1")
	}
	c := startCore(t)
	files, err := filepath.Glob("testdata/examples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	messages := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := a2ui.Messages(raw)
		if err != nil {
			t.Fatal(err)
		}
		texts, messages = append(texts, string(ahp.MustMarshal(list))), messages+len(list)
	}
	const rounds = 21
	ours := func() float64 {
		began := processorTime(t)
		for range rounds {
			for _, text := range texts {
				list, err := a2ui.Messages(ahp.Value(text))
				if err != nil {
					t.Fatal(err)
				}
				a2ui.NewSurfaces(a2ui.Limits{}).Apply("a", list)
			}
		}
		return float64((processorTime(t) - began).Microseconds()) / 1e3 / rounds
	}
	theirs := func() float64 {
		if _, err := fmt.Fprintln(c.in, string(ahp.MustMarshal(map[string]any{"bench": texts, "rounds": rounds}))); err != nil {
			t.Fatal(err)
		}
		if !c.lines.Scan() {
			t.Fatal("the core ended")
		}
		var answer struct{ Ms float64 }
		if err := json.Unmarshal(c.lines.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Ms
	}
	ours()
	theirs() // warm
	var ratios []float64
	for range 7 {
		a, b := ours(), theirs()
		ratios = append(ratios, a/b)
		t.Logf("host %.1f µs a message, core %.1f µs: %.2f", 1000*a/float64(messages), 1000*b/float64(messages), a/b)
	}
	slices.Sort(ratios)
	t.Logf("median %.2f", ratios[3])
}
