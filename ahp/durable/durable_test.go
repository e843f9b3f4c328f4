package durable_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// TestReplace: a file has its new content and only the user's permissions, and no
// temporary file stays.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "new" {
		t.Errorf("the file has %q, %v", data, err)
	}
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v; want 0600", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v; want the file only", entries, err)
	}
}

// TestReplaceFails: a file that cannot be replaced stays, without a temporary file.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(name, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(name, []byte("new")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v; want the old one only", entries, err)
	}
	if err := durable.Replace(filepath.Join(dir, "absent", "file"), nil); err == nil {
		t.Error("a file was written into a folder that does not exist")
	}
}

// TestReadersSeeWholeFiles: while writers replace a file, every read has one of their
// contents.
func TestReadersSeeWholeFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	contents := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 70_000)}
	var writers sync.WaitGroup
	for _, data := range contents {
		if err := durable.Replace(name, data); err != nil {
			t.Fatal(err)
		}
		writers.Go(func() {
			for range 20 {
				if err := durable.Replace(name, data); err != nil && runtime.GOOS != "windows" {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		default:
		}
		if data, err := os.ReadFile(name); err == nil && !bytes.Equal(data, contents[0]) && !bytes.Equal(data, contents[1]) {
			t.Fatalf("read %d bytes that no writer wrote", len(data))
		}
	}
}
