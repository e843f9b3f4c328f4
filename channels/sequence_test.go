package channels

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// openSequence returns a log with a sequence in a store.
func openSequence(t *testing.T, s Store) (*Log, *Sequence) {
	t.Helper()
	records, err := LoadRecords(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	n, err := OpenSequence(t.Context(), s, records, nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Sequence: n}), n
}

// use uses n sequence numbers.
func use(l *Log, n int64) error {
	return l.Update(func(tx *Tx) error { tx.l.seq += n; return nil })
}

func seqOf(l *Log) (seq int64) {
	l.View(func(tx *ReadTx) { seq = tx.Seq() })
	return seq
}

// TestSequenceNeverGoesBack: after a restart a host starts above every number that
// it might have used before, in blocks of 2^20 (canvas/PROTOCOL.md section 5).
func TestSequenceNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory()
		var last int64
		for run := range 5 {
			l, n := openSequence(t, store)
			if first := seqOf(l); first < last || run > 0 && first%(1<<20) != 0 {
				t.Fatalf("run %d begins at %d, the previous one ended at %d", run, first, last)
			}
			for range run * 5 {
				if err := use(l, sequenceBlock/4); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // until the next block is reserved
			}
			last = seqOf(l)
			n.Close()
		}
	})
}

// TestSequenceExhausted: a log uses no number that is not reserved. Without one, it
// can still be read and left.
func TestSequenceExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{Memory: NewMemory()}
		l, n := openSequence(t, store)
		defer n.Close()
		l.AddKind(&newToy().Kind)
		mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/a", "", count{}) })
		s, box := subscriber(1, "c")
		subscribeTo(t, l, s, "toy:/a")
		store.full.Store(true)
		steps := 0
		var err error
		for ; err == nil; steps++ {
			err = use(l, sequenceBlock/64)
		}
		if !errors.Is(err, ErrSequenceExhausted) || steps < 60 || steps > 62 {
			t.Fatalf("after %d steps of 64: %v", steps, err)
		}
		select {
		case <-n.Exhausted():
		default:
			t.Error("Exhausted is not closed")
		}
		l.View(func(tx *ReadTx) {
			if !tx.Subscribed(s, "toy:/a") {
				t.Error("View of an exhausted log: not subscribed")
			}
		})
		if err := l.Dispatch(s, ahp.DispatchActionParams{Channel: "toy:/a", Action: ahp.Value(`{"type":"toy/add","n":1}`)}); !errors.Is(err, ErrSequenceExhausted) || len(box.frames) > 0 {
			t.Errorf("Dispatch to an exhausted log: %v, %d frames", err, len(box.frames))
		}
		if mark := l.Leave(s); len(mark) != 1 {
			t.Errorf("Leave of an exhausted log: %v", mark.URIs())
		}
		store.full.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := use(l, 1); err != nil {
			t.Errorf("after the store works again: %v", err)
		}
	})
}

func TestDamagedSequence(t *testing.T) {
	for _, value := range []string{`{}`, `{"reserved":-1}`, `{"reserved":9007199254740992}`, `x`} {
		store := NewMemory()
		store.Commit(t.Context(), Change{Key: sequenceKey, Value: []byte(value)})
		records, _ := LoadRecords(t.Context(), store)
		if _, err := OpenSequence(t.Context(), store, records, nil); !errors.Is(err, ErrStoreDamaged) || !strings.Contains(err.Error(), "record numbers: ") || !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("%s: %v", value, err)
		}
	}
}
