package programtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// notBackedUp are the files of a state folder that a backup has no copy of, and why.
var notBackedUp = map[string]string{
	"lock":             "says which process uses the folder",
	"spare":            "only takes space",
	"store.db-lock":    "says which process uses the store",
	"store.db-wal":     "is part of the store, whose copy is whole",
	"store.db-shm":     "is the index of the log",
	"aam/site.db-lock": "as of the store",
	"aam/site.db-wal":  "as of the store",
	"aam/site.db-shm":  "as of the store",
}

// TestBackupIsWhole compares the files that a host with everything writes into its state
// folder with those that a backup with keys restores: it has each of them, with its content.
func TestBackupIsWhole(t *testing.T) {
	t.Parallel()
	needNode(t)
	h := newAAMHost(t)
	_, flags := relayOf(t, h.m)
	flags = append(flags, "--browser", "none", "--open", "board", "--aam", "--aam-loopback", "--aam-vendor", aamVendor,
		"--extension", extensionFolder(t, t.TempDir(), "one", tinyExtension))
	s := h.serve(flags...)
	h.m.eventually("one-panel", "ls")
	h.m.do(0, "open", "one-panel", "--instance", "mine")
	h.m.do(0, "token", "create", "--role", "client", "--name", "Editor")
	h.m.do(0, "open", "page", "--instance", "p", "--input", `{"html":"<h1>Hi</h1>"}`)
	kept, err := filepath.Glob(filepath.Join(h.dir, "extensions", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no folder of an extension: %v", err)
	}
	if err := os.WriteFile(filepath.Join(kept[0], "tool"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "backup.db")
	h.m.do(0, "state", "backup", "--keys", copied, "--state", h.dir)
	before := filesBelow(t, h.dir)
	s.stop(syscall.SIGTERM)

	restored := filepath.Join(t.TempDir(), "restored")
	for range 2 { // on a new machine, and over the first
		h.m.do(0, "state", "restore", "--keys", copied, "--state", restored)
	}
	for _, name := range before {
		if notBackedUp[name] != "" {
			continue
		}
		want, err := os.ReadFile(filepath.Join(h.dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(restored, name))
		if err != nil || !strings.HasSuffix(name, ".db") && !bytes.Equal(got, want) {
			t.Errorf("a backup does not restore %s: %v", name, err)
		}
	}
	for _, want := range []string{"host.json", "seal.key", "tokens.json", "store.db", "aam/key", "aam/pin", "aam/site.db"} {
		if !slices.Contains(before, want) {
			t.Errorf("the host wrote no %s, only %q", want, before)
		}
	}
	tool := filepath.Join(restored, strings.TrimPrefix(kept[0], h.dir), "tool")
	if info, err := os.Stat(tool); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the program of an extension: %v, %v", info, err)
	}
	h.dir = restored
	h.serve(flags...)
	h.m.do(0, "invoke", "board", "get_board")
}

// filesBelow returns the names of the files below a folder, with slashes.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
