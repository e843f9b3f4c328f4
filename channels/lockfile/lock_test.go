package lockfile_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
)

func held(t *testing.T, name string) bool {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	held, err := lockfile.Try(f)
	if err != nil {
		t.Error(err)
	}
	return held
}

// What is locked can be renamed, read and removed, and is free once it is closed.
func TestALockKeepsOthersFromTheLockAlone(t *testing.T) {
	dir := t.TempDir()
	f, err := lockfile.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := lockfile.Try(f); held || err != nil {
		t.Fatalf("a new file: %v, %v", held, err)
	}
	if _, err := io.WriteString(f, "mine"); err != nil {
		t.Error(err)
	}
	name := filepath.Join(dir, "name")
	if err := os.Rename(f.Name(), name); err != nil {
		t.Fatal(err)
	}
	for range 2 { // who looks takes nothing
		if !held(t, name) {
			t.Error("a locked file is free for another")
		}
	}
	if text, err := os.ReadFile(name); string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	f.Close()
	if held(t, name) {
		t.Error("a closed file is locked")
	}
}

func TestALockedFileCanBeRemoved(t *testing.T) {
	dir := t.TempDir()
	f, err := lockfile.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := lockfile.Try(f); held || err != nil {
		t.Errorf("%v, %v", held, err)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Error(err)
	}
	f.Close() // on Windows it may go only now
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
