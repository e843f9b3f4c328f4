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

// A locked file can be renamed and read, and is unlocked when it is closed.
func TestLockedFileIsReadable(t *testing.T) {
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
	for range 2 { // a failed Try leaves no lock
		if !held(t, name) {
			t.Error("a locked file was locked again")
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

func TestLockedFileCanBeRemoved(t *testing.T) {
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
	f.Close() // Windows removes the file only now
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// Shared and exclusive locks exclude each other; shared locks do not.
func TestSharedLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "name")
	open := func() *os.File {
		t.Helper()
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	one, two := open(), open()
	for _, f := range []*os.File{one, two} {
		if held, err := lockfile.TryShared(f); held || err != nil {
			t.Errorf("shared: %t, %v", held, err)
		}
	}
	if !held(t, name) {
		t.Error("an exclusive lock on a file with a shared one")
	}
	one.Close()
	two.Close()
	if held, err := lockfile.Try(open()); held || err != nil {
		t.Fatalf("exclusive: %t, %v", held, err)
	}
	if held, err := lockfile.TryShared(open()); !held || err != nil {
		t.Errorf("shared, with an exclusive lock held: %t, %v", held, err)
	}
}
