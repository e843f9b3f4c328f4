package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/schema"
)

// TestFresh checks that the generated files are up to date, and that there are
// no others.
func TestFresh(t *testing.T) {
	files, err := schema.Generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if have, err := os.ReadFile(name); err != nil || string(have) != string(want) {
			t.Errorf("%s is stale: run go generate ./schema (%v)\n%s", name, err, cmp.Diff(string(have), string(want)))
		}
	}
	known, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range known {
		if files[name] == nil {
			t.Errorf("%s is no generated file", name)
		}
	}
}
