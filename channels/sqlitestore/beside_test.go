package sqlitestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// TestCloseBesideReader: a store that another process reads while it is closed keeps its
// log. Close returns an error, Check does not report the file as closed, and the next
// host has every record.
func TestCloseBesideReader(t *testing.T) {
	ahptest.Leaks(t)
	path := made(t, "")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := connect(t.Context(), path, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{"BEGIN", "SELECT count(*) FROM record"} {
		if err := reader.exec(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(t.Context(), channels.Change{Key: "d"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, channels.ErrStoreBusy) {
		t.Errorf("close: %v", err)
	}
	if err := reader.close(); err != nil {
		t.Error(err)
	}
	if r, err := Check(t.Context(), path); err != nil || r.Records != 4 || r.Closed {
		t.Errorf("check: %+v %v", r, err)
	}
	if s, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r, err := Check(t.Context(), path); err != nil || r.Records != 4 || !r.Closed {
		t.Errorf("check of a closed store: %+v %v", r, err)
	}
}

// TestBackupFails: the error of a copy that cannot be written names the copy, and the
// files beside the copy are unchanged.
func TestBackupFails(t *testing.T) {
	ahptest.Leaks(t)
	path := made(t, "")
	dir := t.TempDir()
	before := filepath.Join(dir, "copy.db-new")
	if err := os.WriteFile(before, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Backup(t.Context(), path, filepath.Join(dir, "copy.db")); err != nil || r.Records != 3 {
		t.Errorf("%+v %v", r, err)
	}
	if text, err := os.ReadFile(before); string(text) != "somebody's" {
		t.Errorf("beside the copy: %q %v", text, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left: %v %v", all, err)
	}
	for _, to := range []string{filepath.Join(dir, "none", "copy.db"), filepath.Join(before, "copy.db"), filepath.Join(dir, strings.Repeat("x", 300))} {
		_, err := Backup(t.Context(), path, to)
		if err == nil || known(err) || errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), to+": the copy cannot be written there: ") {
			t.Errorf("%v", err)
		}
	}
}

// TestTwoReaders: two readers of a closed store do not exclude each other or take each
// other for a host. A host that starts meanwhile reports the reader in its error.
func TestTwoReaders(t *testing.T) {
	ahptest.Leaks(t)
	path := made(t, "")
	s, err := Open(t.Context(), path, Options{})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	before := names(t, path)
	looks, held, _, err := shareLock(path)
	if held || err != nil {
		t.Fatalf("%t %v", held, err)
	}
	if r, err := Check(t.Context(), path); err != nil || r.PID != 0 || !r.Closed {
		t.Errorf("check: %+v %v", r, err)
	}
	if after := names(t, path); after != before {
		t.Errorf("%s, before: %s", after, before)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, channels.ErrStoreBusy) || !strings.Contains(err.Error(), "a check or a backup reads it") {
		t.Errorf("open: %v", err)
	}
	if err := looks.release(); err != nil {
		t.Error(err)
	}
}
