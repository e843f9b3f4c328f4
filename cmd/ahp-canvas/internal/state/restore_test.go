package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

// write makes a state folder whose store has one value, and one file of a page.
func write(t *testing.T, dir, value string) *statedir.State {
	t.Helper()
	s, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlitestore.Open(t.Context(), statedir.StoreFile(dir), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Commit(t.Context(), channels.Change{Key: "a", Value: []byte(`"` + value + `"`)}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, pagesFolder, "0f")
	if err := os.MkdirAll(page, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(page, value), []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRestore puts a backup of one machine into the folder of another.
func TestRestore(t *testing.T) {
	t.Parallel()
	one, other := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")
	copied := filepath.Join(t.TempDir(), "copy.db")
	write(t, one, "first").Release()
	run := func(want int, word string, args ...string) {
		t.Helper()
		if status, out, errs := termtest.Run(t, Command, args...); status != want || !strings.Contains(out+errs, word) {
			t.Errorf("%q: %d %q %q, want %d %q", args, status, out, errs, want, word)
		}
	}
	run(term.ExitDone, "copied", "backup", copied, "--state", one)

	running := write(t, other, "second")
	run(term.ExitFailed, "host_not_started: another host", "restore", copied, "--state", other)
	running.Release()
	run(term.ExitDone, `"second"`, "dump", "--state", other)
	run(term.ExitDone, "store.db: restored: 1 record", "restore", copied, "--state", other)
	run(term.ExitDone, `"first"`, "dump", "--state", other)
	if got, err := os.ReadFile(filepath.Join(other, pagesFolder, "0f", "first")); err != nil || string(got) != "first" {
		t.Errorf("the file of a page: %q, %v", got, err)
	}
	kept, err := statedir.Read(statedir.File(other))
	if err != nil || kept.ViewToken != running.ViewToken {
		t.Errorf("the folder lost its tokens: %v", err)
	}
	replaced := filepath.Join(other, "replaced-1")
	run(term.ExitDone, `"second"`, "dump", "--state", replaced)
	if _, err := os.Stat(filepath.Join(replaced, pagesFolder, "0f", "second")); err != nil {
		t.Error(err)
	}

	// A new machine, and what is no backup.
	run(term.ExitDone, "restored", "restore", copied, "--state", filepath.Join(t.TempDir(), "new"))
	run(term.ExitFailed, "does not exist; name a file that", "restore", copied+"x", "--state", other)
	if err := os.WriteFile(copied, []byte("no store"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(term.ExitFailed, "state_damaged", "restore", copied, "--state", other)
	run(term.ExitDone, `"first"`, "dump", "--state", other)
}
