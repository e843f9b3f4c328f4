package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// made returns a closed store with three records, after change was run on its tables.
func made(t *testing.T, change string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if err := create(t.Context(), path, []record{{key: "a", value: []byte("1")}, {key: "b"}, {key: "c", value: []byte("3")}}); err != nil {
		t.Fatal(err)
	}
	if change == "" {
		return path
	}
	c, err := connect(t.Context(), path, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.exec(t.Context(), change, args...), c.close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRefuse: Open and Check refuse wrong tables, with an error that names the file.
func TestRefuse(t *testing.T) {
	ahptest.Leaks(t)
	right, _ := newManifest().encode()
	for _, tc := range []struct {
		name, change string
		args         []any
		want         error
		word         string
	}{
		{"nothing wrong", "", nil, nil, ""},
		{"a value", "UPDATE record SET value = x'32' WHERE key = x'61'", nil, channels.ErrStoreDamaged, `"a" does not match its checksum`},
		{"a key", "UPDATE record SET key = x'62 62' WHERE key = x'62'", nil, channels.ErrStoreDamaged, `"bb" does not match`},
		{"a checksum", "UPDATE record SET crc = 1 WHERE key = x'61'", nil, channels.ErrStoreDamaged, `"a" does not match`},
		{"a record is missing", "DELETE FROM record WHERE key = x'61'", nil, channels.ErrStoreDamaged, "its 2 records are not the 3"},
		{"an additional record", "INSERT INTO record VALUES (4, x'64', x'31', ?)", []any{int64(recordSum([]byte("d"), []byte("1")))}, channels.ErrStoreDamaged, "its 4 records are not the 3"},
		{"a key exists twice", "UPDATE record SET key = x'63', value = x'33', crc = ? WHERE key = x'61'", []any{int64(recordSum([]byte("c"), []byte("3")))}, channels.ErrStoreDamaged, ""},
		{"no manifest", "DELETE FROM manifest", nil, channels.ErrStoreDamaged, "its manifest cannot be read"},
		{"another manifest", "UPDATE manifest SET body = ?", []any{right}, channels.ErrStoreDamaged, "its manifest does not match"},
		{"another table", "CREATE TABLE more (x)", nil, channels.ErrStoreDamaged, "its tables are not those"},
		{"no table", "DROP TABLE record", nil, channels.ErrStoreDamaged, "its tables are not those"},
		{"another journal", "PRAGMA journal_mode = DELETE", nil, channels.ErrStoreDamaged, ""},
		{"a flipped format", "UPDATE manifest SET format = 3", nil, channels.ErrStoreDamaged, "its manifest does not match"},
		{"a newer format", "UPDATE manifest SET format = 2, crc = ?, body = 'other'", []any{int64(manifestSum(2, "other"))}, channels.ErrStoreNewer, "it has format 2, this program knows format 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := made(t, strings.ReplaceAll(tc.change, "x'62 62'", "x'6262'"), tc.args...)
			_, checked := Check(t.Context(), path)
			s, opened := Open(t.Context(), path, Options{})
			for what, err := range map[string]error{"check": checked, "open": opened} {
				if !errors.Is(err, tc.want) || err != nil && (!strings.Contains(err.Error(), tc.word) || !strings.HasPrefix(err.Error(), path)) {
					t.Errorf("%s: %v, want %v", what, err, tc.want)
				}
			}
			if opened == nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestNothing: if there is no file, Open creates one and Check fails. Neither creates a
// folder.
func TestNothing(t *testing.T) {
	ahptest.Leaks(t)
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if _, err := Check(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("check: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none", FileName), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open without a folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 1 {
		t.Errorf("remaining files: %v %v", left, err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestBackup: a backup can be made while a host runs. It has its own id, and replaces no
// file.
func TestBackup(t *testing.T) {
	ahptest.Leaks(t)
	path := made(t, "")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), channels.Change{Key: "d", Value: []byte("4")}); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "backup.db")
	r, err := s.Backup(t.Context(), to)
	if err != nil || r.Records != 4 || r.Bytes != 7 || !r.Closed || r.Path != to {
		t.Errorf("%+v %v", r, err)
	}
	beside, err := Check(t.Context(), path)
	if err != nil || beside.PID != os.Getpid() || beside.Records != 4 || beside.Closed || beside.Store == r.Store {
		t.Errorf("beside: %+v %v", beside, err)
	}
	if _, err := s.Backup(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var keys string
	if _, err := Dump(t.Context(), to, func(key string, _ []byte) error { keys += key; return nil }); err != nil || keys != "abcd" {
		t.Errorf("dump: %q %v", keys, err)
	}
	// Restore it, while the lock file of the lost store still exists.
	if err := os.Rename(to, path); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCheckChangesNothing: Check leaves the folder unchanged.
func TestCheckChangesNothing(t *testing.T) {
	ahptest.Leaks(t)
	path := made(t, "")
	before := names(t, path)
	if r, err := Check(t.Context(), path); err != nil || r.Records != 3 || !r.Closed || r.Format != 1 {
		t.Errorf("%+v %v", r, err)
	}
	if after := names(t, path); after != before {
		t.Errorf("%s, before: %s", after, before)
	}
}

func names(t *testing.T, path string) (all string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all += e.Name() + " " + info.ModTime().String() + "\n"
	}
	return all
}
