package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"modernc.org/sqlite"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// TestBroken: a failure that might be a lost sync breaks the store. Every later commit
// fails, and the acknowledged commits are kept.
func TestBroken(t *testing.T) {
	ahptest.Leaks(t)
	path := filepath.Join(t.TempDir(), FileName)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), channels.Change{Key: "a", Value: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	s.w.stmts.commit = noStatement{s.w.stmts.commit} // no job is running
	for range 2 {
		err := s.Commit(t.Context(), channels.Change{Key: "b"})
		if !errors.Is(err, channels.ErrStoreBroken) {
			t.Errorf("commit: %v", err)
		}
	}
	if err := s.Load(t.Context(), func(string, []byte) error { return nil }); !errors.Is(err, channels.ErrStoreBroken) {
		t.Errorf("load: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	r, err := Check(t.Context(), path)
	if err != nil || r.Records != 1 || r.Closed {
		t.Errorf("check: %+v %v", r, err)
	}
}

// noStatement is a statement that fails.
type noStatement struct{ driver.Stmt }

func (noStatement) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return nil, errors.New("the statement is closed")
}

// TestGroup: the batches of a group are all applied, in order, and each counts as a
// commit.
func TestGroup(t *testing.T) {
	ahptest.Leaks(t)
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), FileName), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs := make([]*job, 100)
	var group []*job
	for i := range jobs {
		jobs[i] = &job{changes: []channels.Change{{Key: string(rune('a' + i%26)), Value: []byte{byte(i)}}}}
		group = append(group, jobs[i])
	}
	before := s.w.m.Commits
	s.w.commit(group) // no job is running, so the test may
	for _, j := range jobs {
		if j.err != nil {
			t.Fatal(j.err)
		}
	}
	if got := s.w.m.Commits - before; got != 100 || s.w.m.Records != 26 {
		t.Errorf("%d commits, %d records", got, s.w.m.Records)
	}
	i := 0
	err = s.Load(t.Context(), func(_ string, value []byte) error {
		if want := i + 26*((99-i)/26); int(value[0]) != want {
			t.Errorf("record %d is of batch %d, want %d", i, value[0], want)
		}
		i++
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFullAlone: a large batch that does not fit fails alone. SQLite's limit of pages
// replaces a full disk.
func TestFullAlone(t *testing.T) {
	ahptest.Leaks(t)
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), FileName), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	limit := func(pages int) {
		if _, err := texts(t.Context(), s.w.c, "PRAGMA max_page_count = "+string(rune('0'+pages/100))+"00"); err != nil {
			t.Fatal(err)
		}
	}
	limit(100)
	group := []*job{}
	for i := range 9 {
		size := 10
		if i == 4 {
			size = 1 << 20
		}
		group = append(group, &job{changes: []channels.Change{{Key: string(rune('a' + i)), Value: make([]byte, size)}}})
	}
	s.w.commit(group)
	for i, j := range group {
		if errors.Is(j.err, channels.ErrStoreFull) != (i == 4) || (j.err != nil) != (i == 4) {
			t.Errorf("batch %d: %v", i, j.err)
		}
	}
	limit(900)
	if err := s.Commit(t.Context(), group[4].changes...); err != nil {
		t.Errorf("after the limit was raised: %v", err)
	}
}

// TestCloseTwice: concurrent calls of Close all wait for the same result.
func TestCloseTwice(t *testing.T) {
	ahptest.Leaks(t)
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), FileName), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestKinds(t *testing.T) {
	for code, want := range map[int]error{
		13: channels.ErrStoreFull, 8: channels.ErrStoreReadOnly, 8 | 5<<8: channels.ErrStoreReadOnly, 14: channels.ErrStoreReadOnly,
		5: channels.ErrStoreBusy, 5 | 1<<8: channels.ErrStoreBusy, 6: channels.ErrStoreBusy,
		10: nil, 10 | 3<<8: nil, 10 | 4<<8: nil, 11: nil, 26: nil, 1: nil, 7: nil,
	} {
		if got := kindOfCode(code); got != want {
			t.Errorf("%d (%s): %v, want %v", code, sqlite.ErrorCodeString[code], got, want)
		}
	}
}
