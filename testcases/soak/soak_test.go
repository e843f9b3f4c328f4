package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/built"
)

// TestMain makes this test the provider that a run starts it for.
func TestMain(m *testing.M) {
	if code, ok := child(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestPrograms runs the short form against the program, and with AHP_LONG two hours. Other
// tests use the processor meanwhile, so only the long form judges latencies.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program")
	}
	if runtime.GOOS != "linux" {
		t.Skip("counts files as Linux shows them")
	}
	path, remove, err := built.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	p, whole := short(), os.Getenv("AHP_LONG") != ""
	if whole {
		p = long(2 * time.Hour)
	}
	var out strings.Builder
	wrong, err := soakPrograms(t.Context(), path, p, &out)
	t.Logf("\n%s", &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range wrong {
		if whole || !strings.HasPrefix(text, "the p99 ") {
			t.Error(text)
		}
	}
}
