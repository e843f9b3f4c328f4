package sampletest

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// Declared fails the test unless the provider declares exactly the agent's actions,
// each with a description and an input schema.
func Declared[S any](t testing.TB, p *sample.Provider, agent map[string]sample.Action[S]) {
	t.Helper()
	var declared []string
	for _, a := range p.Declarations()[0].Actions {
		declared = append(declared, a.Name)
		if a.Description == "" || a.InputSchema == nil {
			t.Errorf("action %q has no description or no schema", a.Name)
		}
	}
	slices.Sort(declared)
	if diff := cmp.Diff(declared, slices.Sorted(maps.Keys(agent))); diff != "" {
		t.Errorf("actions (-declared +implemented)\n%s", diff)
	}
}
