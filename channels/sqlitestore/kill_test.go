package sqlitestore_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// TestKill: a process that commits with 16 callers is killed at random moments. No
// acknowledged batch is lost, none is applied in part, and no deleted record exists.
func TestKill(t *testing.T) {
	ahptest.Leaks(t)
	path := filepath.Join(t.TempDir(), sqlitestore.FileName)
	kills, acks := long(10, 200), 0
	for range kills {
		c := startChild(t, path, 16, 1<<30)
		acks += c.acks(1 + rand.IntN(1000))
		acks += c.kill(t)
		at := reopen(t, path)
		if err := agrees(at, c.last); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d acknowledged batches: 0 lost, 0 partial, 0 deleted records restored", kills, acks)
}

// reopen opens a store that a killed process left, and returns its rounds.
func reopen(t *testing.T, path string) map[int]int {
	t.Helper()
	if r, err := sqlitestore.Check(t.Context(), path); err != nil || r.PID != 0 {
		t.Fatalf("check: %+v %v", r, err)
	}
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := readRounds(s)
	if err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return at
}
