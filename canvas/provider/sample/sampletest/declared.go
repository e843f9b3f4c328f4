package sampletest

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// Declared fails the test unless what is declared is what an agent can do, each
// action with a description and a schema of its input.
func Declared[S any](t testing.TB, d canvas.Declaration, agent map[string]sample.Action[S]) {
	t.Helper()
	var declared []string
	for _, a := range d.Actions {
		declared = append(declared, a.Name)
		if a.Description == "" || a.InputSchema == nil {
			t.Errorf("%s has no description or no schema", a.Name)
		}
	}
	slices.Sort(declared)
	if diff := cmp.Diff(declared, slices.Sorted(maps.Keys(agent))); diff != "" {
		t.Errorf("(-declared +done)\n%s", diff)
	}
}
