package sqlitestore_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// disk returns a folder on a small file system. It skips the test if none can be mounted.
func disk(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// kept is the acknowledged records of a store.
type kept struct {
	mu      sync.Mutex
	records map[string]string
	full    int
}

// commit commits records of a size until the disk is full.
func (k *kept) commit(t *testing.T, s channels.Store, name string, size int) {
	for i := range 10_000 {
		key, value := fmt.Sprintf("%s/%d", name, i), string(make([]byte, size))
		err := s.Commit(t.Context(), channels.Change{Key: key, Value: []byte(value)}, channels.Change{Key: key + "/pair"})
		k.mu.Lock()
		switch {
		case err == nil:
			k.records[key], k.records[key+"/pair"] = value, ""
		case errors.Is(err, channels.ErrStoreFull):
			k.full++
		default:
			t.Errorf("commit: %v, want nil or ErrStoreFull", err)
		}
		k.mu.Unlock()
		if err != nil {
			return
		}
	}
	t.Error("the disk is never full")
}

func (k *kept) check(t *testing.T, s channels.Store) {
	t.Helper()
	got := map[string]string{}
	if err := s.Load(t.Context(), func(key string, value []byte) error { got[key] = string(value); return nil }); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, k.records) {
		t.Errorf("%d records, %d were acknowledged", len(got), len(k.records))
	}
}

// TestFullDisk: the disk fills up while 8 callers commit. Each commit is kept or fails
// with ErrStoreFull, and none is applied in part. The store continues, and accepts
// commits once there is space. A process that is killed meanwhile leaves the same.
func TestFullDisk(t *testing.T) {
	ahptest.Leaks(t)
	dir := disk(t, "12m")
	path := filepath.Join(dir, sqlitestore.FileName)
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	write(t, filler, make([]byte, 4<<20))
	k := &kept{records: map[string]string{}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { k.commit(t, s, fmt.Sprint(i), 1000*(i*i+1)) })
	}
	wg.Wait()
	k.check(t, s)
	if r, err := sqlitestore.Check(t.Context(), path); err != nil || r.Records != len(k.records) {
		t.Errorf("check of a full disk: %+v %v", r, err)
	}
	copied := copyStore(t, path) // like a killed process
	before := len(k.records)

	remove(t, filler)
	for i := range 8 {
		key := fmt.Sprint("room/", i)
		if err := s.Commit(t.Context(), channels.Change{Key: key, Value: []byte(key)}); err != nil {
			t.Fatalf("with free space: %v", err)
		}
		k.records[key] = key
	}
	k.check(t, s)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	reopened := open(t, path)
	k.check(t, reopened)
	for i := range 8 {
		delete(k.records, fmt.Sprint("room/", i))
	}
	asKilled := open(t, copied)
	k.check(t, asKilled)
	if err := errors.Join(reopened.Close(), asKilled.Close()); err != nil {
		t.Error(err)
	}
	t.Logf("%d commits failed on a full disk, %d records kept, 0 partial, 0 deleted ones restored; 8 commits with free space", k.full, before)
}

func open(t *testing.T, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFullDiskAtOpen: Open on a full disk returns ErrStoreFull, and works once there is
// space.
func TestFullDiskAtOpen(t *testing.T) {
	ahptest.Leaks(t)
	for _, tc := range []struct {
		name string
		made bool
	}{{"a new store", false}, {"a store", true}} {
		t.Run(tc.name, func(t *testing.T) {
			dir := disk(t, "1m")
			path := filepath.Join(dir, sqlitestore.FileName)
			if tc.made {
				if err := open(t, path).Close(); err != nil {
					t.Fatal(err)
				}
			}
			filler := filepath.Join(dir, "filler")
			if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
			if _, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{}); !errors.Is(err, channels.ErrStoreFull) {
				t.Errorf("open: %v", err)
			}
			remove(t, filler)
			if err := open(t, path).Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReadOnly: Open of a store in a read-only folder fails, and Check works.
func TestReadOnly(t *testing.T) {
	ahptest.Leaks(t)
	dir := disk(t, "1m")
	path := filepath.Join(dir, sqlitestore.FileName)
	remount := func(flags uintptr) {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	if _, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{}); !errors.Is(err, channels.ErrStoreReadOnly) {
		t.Errorf("a new store: %v", err)
	}
	remount(0)
	s := open(t, path)
	if err := errors.Join(s.Commit(t.Context(), channels.Change{Key: "a"}), s.Close()); err != nil {
		t.Fatal(err)
	}
	remount(syscall.MS_RDONLY)
	if _, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{}); !errors.Is(err, channels.ErrStoreReadOnly) {
		t.Errorf("a store: %v", err)
	}
	if r, err := sqlitestore.Check(t.Context(), path); err != nil || r.Records != 1 {
		t.Errorf("check: %+v %v", r, err)
	}
	remount(0)
	if err := open(t, path).Close(); err != nil {
		t.Error(err)
	}
}

// TestPreallocateFails: if the log cannot be preallocated for a reason other than a full
// disk, here a limit on file sizes, Open fails. The next Open has every record.
func TestPreallocateFails(t *testing.T) {
	ahptest.Leaks(t)
	path := filepath.Join(t.TempDir(), sqlitestore.FileName)
	s := open(t, path)
	if err := errors.Join(s.Commit(t.Context(), channels.Change{Key: "a"}), s.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := openWithFileLimit(t, path, 1<<20)
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, channels.ErrStoreBroken) || !errors.Is(err, syscall.EFBIG) {
		t.Errorf("open: %v", err)
	}
	s = open(t, path)
	(&kept{records: map[string]string{"a": ""}}).check(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// openWithFileLimit opens a store while files are limited to a size.
func openWithFileLimit(t *testing.T, path string, size uint64) (*sqlitestore.Store, error) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	return sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
}
