package channels

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func numbered(t *testing.T, s Store) (*Log, *Sequence) {
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

// use gives out numbers as transactions do.
func use(l *Log, n int64) error {
	return l.Update(func(tx *Tx) error { tx.l.seq += n; return nil })
}

func seqOf(l *Log) (seq int64) {
	l.View(func(tx *ReadTx) { seq = tx.Seq() })
	return seq
}

// TestSequenceNeverGoBack: a restart begins behind everything that could have been
// given out, however the life before it ended: with a block of 2^20 (canvas.md
// section 5).
func TestSequenceNeverGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory()
		var last int64
		for life := range 5 {
			l, n := numbered(t, store)
			if first := seqOf(l); first < last || life > 0 && first%(1<<20) != 0 {
				t.Fatalf("life %d begins at %d, the one before ended at %d", life, first, last)
			}
			for range life * 5 {
				if err := use(l, sequenceBlock/4); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // the next block is reserved meanwhile
			}
			last = seqOf(l)
			n.Close()
		}
	})
}

// TestSequenceRunOut: a log never gives out what is not reserved. It ends, and says so.
func TestSequenceRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &refusing{Memory: NewMemory()}
		l, n := numbered(t, store)
		defer n.Close()
		l.AddKind(&newToy().Kind)
		mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/a", "", count{}) })
		s, box := subscriber(1, "c")
		subscribeTo(t, l, s, "toy:/a")
		store.no.Store(true)
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
			t.Error("nobody was told")
		}
		l.View(func(tx *ReadTx) {
			if !tx.Subscribed(s, "toy:/a") {
				t.Error("View on an exhausted log: not subscribed")
			}
		})
		if err := l.Dispatch(s, ahp.DispatchActionParams{Channel: "toy:/a", Action: ahp.Value(`{"type":"toy/add","n":1}`)}); !errors.Is(err, ErrSequenceExhausted) || len(box.frames) > 0 {
			t.Errorf("a dispatch on an exhausted log: %v, %d frames", err, len(box.frames))
		}
		if mark := l.Leave(s); len(mark) != 1 {
			t.Errorf("a connection that leaves an exhausted log: %v", mark.URIs())
		}
		store.no.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := use(l, 1); err != nil {
			t.Errorf("reserved, and still: %v", err)
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
