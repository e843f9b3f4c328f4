package sqlitestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// killedStore returns a store that a killed process left, and the rounds that were
// acknowledged.
func killedStore(t *testing.T) (path string, acknowledged map[int]int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), sqlitestore.FileName)
	c := startChild(t, path, 8, 1<<30)
	c.acks(400)
	c.kill(t)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("a killed process left no log: %v", err)
	}
	return path, c.last
}

// closedStore returns the same store after a Close.
func closedStore(t *testing.T) (path string, acknowledged map[int]int) {
	t.Helper()
	path, acknowledged = killedStore(t)
	at := reopen(t, path)
	if err := agrees(at, acknowledged); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a closed store has a log: %v", err)
	}
	return path, at
}

// TestDamage: a store with a flipped bit or a truncated file opens with the right state
// or is refused. One that opens works.
func TestDamage(t *testing.T) {
	ahptest.Leaks(t)
	for _, tc := range []struct {
		name  string
		make  func(*testing.T) (string, map[int]int)
		files []string // the files to damage, in turn
	}{
		{"closed", closedStore, []string{""}},
		{"killed", killedStore, []string{"-wal", "", "-wal", "-lock"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path, acknowledged := tc.make(t)
			scratch := copyStore(t, path)
			right, refused := 0, 0
			n := long(100, 1000)
			for i := range n {
				copyTo(t, path, scratch)
				what := harm(t, scratch+tc.files[i%len(tc.files)])
				ok, err := opensRight(t, scratch, acknowledged)
				switch {
				case err != nil:
					t.Errorf("%s: %v", what, err)
				case ok:
					right++
				default:
					refused++
				}
			}
			t.Logf("%d damages: %d opened with the right state, %d refused, 0 wrong", n, right, refused)
			if right == 0 || refused == 0 {
				t.Error("all had the same outcome: the test is not effective")
			}
		})
	}
}

// harm flips a bit of a file or truncates it, before the zeros at its end, because a log
// is preallocated.
func harm(t *testing.T, file string) (what string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(file)
	at := rand.IntN(len(bytes.TrimRight(data, "\x00")))
	switch rand.IntN(5) {
	case 0: // the headers of files and pages are most critical
		at = min(at/4096*4096+rand.IntN(120), len(data)-1)
		fallthrough
	case 1, 2:
		bit := rand.IntN(8)
		data[at] ^= 1 << bit
		what = fmt.Sprintf("%s: bit %d of byte %d of %d", name, bit, at, len(data))
	case 3:
		at = at / 4096 * 4096
		fallthrough
	default:
		what = fmt.Sprintf("%s: cut at %d of %d", name, at, len(data))
		data = data[:at]
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return what
}

// opensRight reports whether a store opens. If it does, it must have the right state,
// accept a commit, and have that when it is opened again. Otherwise Open and Check must
// return ErrStoreDamaged, and file and log must be unchanged.
func opensRight(t *testing.T, path string, acknowledged map[int]int) (bool, error) {
	before := contents(t, path)
	_, checked := sqlitestore.Check(t.Context(), path)
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	if err != nil {
		if !errors.Is(err, channels.ErrStoreDamaged) && !errors.Is(err, channels.ErrStoreReadOnly) {
			return false, fmt.Errorf("refused for another reason: %w", err)
		}
		if checked == nil {
			return false, fmt.Errorf("check finds nothing, open does: %w", err)
		}
		if contents(t, path) != before {
			return false, fmt.Errorf("refused, and changed the files: %w", err)
		}
		return false, nil
	}
	at, err := readRounds(s)
	if err == nil {
		err = agrees(at, acknowledged)
	}
	for caller, round := range at {
		err = errors.Join(err, s.Commit(t.Context(), step(caller, round+1)...))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return false, fmt.Errorf("opened (check: %v): %w", checked, err)
	}
	after := reopen(t, path)
	for caller, round := range at {
		if after[caller] != round+1 {
			return false, fmt.Errorf("caller %d: %d, later %d", caller, round, after[caller])
		}
	}
	return true, nil
}

// contents returns the contents of a file and its log. An empty log equals none.
func contents(t *testing.T, path string) (all [2]string) {
	t.Helper()
	for i, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		all[i] = string(data)
	}
	return all
}

// TestFiles: a store whose files were lost, replaced or copied opens with the right state
// or is refused.
func TestFiles(t *testing.T) {
	ahptest.Leaks(t)
	killed, acknowledged := killedStore(t)
	closed, closedAt := closedStore(t)
	for _, tc := range []struct {
		name  string
		from  string
		want  map[int]int
		do    func(t *testing.T, path string)
		opens bool
	}{
		{"killed, unchanged", killed, acknowledged, func(*testing.T, string) {}, true},
		{"the log is lost", killed, acknowledged, func(t *testing.T, path string) { remove(t, path+"-wal") }, false},
		{"the log is empty", killed, acknowledged, func(t *testing.T, path string) { write(t, path+"-wal", nil) }, false},
		{"the log is truncated in its header", killed, acknowledged, func(t *testing.T, path string) { write(t, path+"-wal", read(t, path+"-wal")[:27]) }, false},
		{"the log and the mark are lost", killed, acknowledged, func(t *testing.T, path string) { remove(t, path+"-wal"); remove(t, path+"-lock") }, false},
		{"the mark is lost", killed, acknowledged, func(t *testing.T, path string) { remove(t, path+"-lock") }, true},
		{"the file is lost", killed, acknowledged, func(t *testing.T, path string) { remove(t, path) }, false},
		{"the file is empty", killed, acknowledged, func(t *testing.T, path string) { write(t, path, nil) }, false},
		{"a closed file is empty", closed, closedAt, func(t *testing.T, path string) { write(t, path, nil) }, false},
		{"a closed file is something else", closed, closedAt, func(t *testing.T, path string) { write(t, path, []byte("hello, world")) }, false},
		{"a closed file has no mark", closed, closedAt, func(t *testing.T, path string) { remove(t, path+"-lock") }, true},
		{"a closed file has an empty log", closed, closedAt, func(t *testing.T, path string) { write(t, path+"-wal", nil) }, true},
		{"a closed file has the mark of another store", closed, closedAt, func(t *testing.T, path string) { write(t, path+"-lock", read(t, killed+"-lock")) }, true},
		{"a closed file has the log of another store", closed, closedAt, func(t *testing.T, path string) { write(t, path+"-wal", read(t, killed+"-wal")) }, false},
		{"a closed file has a part of a log's header", closed, closedAt, func(t *testing.T, path string) { write(t, path+"-wal", read(t, killed+"-wal")[:27]) }, true},
		{"the log is preallocated and empty", killed, acknowledged, func(t *testing.T, path string) { write(t, path+"-wal", make([]byte, 4<<20)) }, false},
		{"the log is preallocated and empty, and the mark is lost", killed, acknowledged, func(t *testing.T, path string) {
			write(t, path+"-wal", make([]byte, 4<<20))
			remove(t, path+"-lock")
		}, false},
		{"a closed file has a preallocated log", closed, closedAt, func(t *testing.T, path string) { write(t, path+"-wal", make([]byte, 4<<20)) }, true},
		{"a closed file has a log of zeros", closed, closedAt, func(t *testing.T, path string) { write(t, path+"-wal", make([]byte, 9000)) }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := copyStore(t, tc.from)
			tc.do(t, path)
			opened, err := opensRight(t, path, tc.want)
			if err != nil || opened != tc.opens {
				t.Errorf("opened: %v, want %v: %v", opened, tc.opens, err)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
