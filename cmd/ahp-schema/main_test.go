package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWrite checks that the files are written to DIR/schema and equal the files
// in this repository.
func TestWrite(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, pkg := range []string{"ahp", "session", "canvas"} {
		if err := os.Symlink(filepath.Join(root, pkg), filepath.Join(dir, pkg)); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir); err == nil {
		t.Error("written into a folder that is not there")
	}
	if err := os.Mkdir(filepath.Join(dir, "schema"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bundle.json", "REFERENCE.md"} {
		want, err := os.ReadFile(filepath.Join(root, "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(filepath.Join(dir, "schema", name)); err != nil || string(have) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
