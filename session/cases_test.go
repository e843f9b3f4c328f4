package session_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// mustCases returns the reducer fixtures of this module.
func mustCases(t testing.TB) []testcases.ReducerCase {
	t.Helper()
	cases, err := testcases.Reducers()
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	return cases
}
