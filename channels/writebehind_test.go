package channels

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// failing is a store whose commits fail while full is set.
type failing struct {
	*Memory
	full    atomic.Bool
	batches atomic.Int64
}

func (f *failing) Commit(ctx context.Context, changes ...Change) error {
	if f.full.Load() {
		return ErrStoreFull
	}
	f.batches.Add(1)
	return f.Memory.Commit(ctx, changes...)
}

// contents returns the records of a store.
func contents(t *testing.T, s Store) map[string]string {
	t.Helper()
	records, err := LoadRecords(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, r := range records {
		m[r.Key] = string(r.Value)
	}
	return m
}

// TestWriteBehind: many marks become one batch with the newest values within 50 ms.
// A store that fails gets them once it works again.
func TestWriteBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{Memory: NewMemory()}
		var mu sync.Mutex
		values := map[string]int{}
		b := NewWriteBehind(store, func(keys []string) (out []Change) {
			mu.Lock()
			defer mu.Unlock()
			for _, k := range keys {
				out = append(out, Change{Key: k, Value: fmt.Append(nil, values[k])})
			}
			return out
		}, nil)
		set := func(key string, v int) {
			mu.Lock()
			defer mu.Unlock()
			values[key] = v
			b.Mark(key) // as under the log's lock
		}
		check := func(want map[string]string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, contents(t, store)); diff != "" {
				t.Error(diff)
			}
		}
		for n := range 1000 {
			set("a", n)
			set("b", -n)
		}
		time.Sleep(50 * time.Millisecond)
		check(map[string]string{"a": "999", "b": "-999"})
		if n := store.batches.Load(); n != 1 {
			t.Errorf("%d batches", n)
		}
		store.full.Store(true)
		set("a", 1)
		time.Sleep(time.Second)
		set("a", 2)
		time.Sleep(time.Minute)
		check(map[string]string{"a": "999", "b": "-999"})
		store.full.Store(false)
		time.Sleep(maxWriteDelay)
		check(map[string]string{"a": "2", "b": "-999"})
		set("b", 3)
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(map[string]string{"a": "2", "b": "3"})
		set("b", 4) // after Flush
		time.Sleep(time.Minute)
		check(map[string]string{"a": "2", "b": "3"})
	})
}

// TestWriteBehindSkipsUnacceptable: a record that no store accepts does not fail the
// others of its batch.
func TestWriteBehindSkipsUnacceptable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory()
		b := NewWriteBehind(store, func(keys []string) (out []Change) {
			for _, k := range keys {
				out = append(out, Change{Key: k, Value: make([]byte, MaxValue+len(k)-1)})
			}
			return out
		}, nil)
		b.Mark("large")
		b.Mark("a")
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if _, kept := contents(t, store)["a"]; !kept {
			t.Error("the record beside one that is too large was not committed")
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestRecordsUnder: Under returns the records of one prefix only.
func TestRecordsUnder(t *testing.T) {
	r := Records{{Key: "a"}, {Key: "b-c/1"}, {Key: "b/1"}, {Key: "b/2"}, {Key: "c"}}
	if diff := cmp.Diff(Records{{Key: "1"}, {Key: "2"}}, r.Under("b/")); diff != "" {
		t.Error(diff)
	}
	if got := r.Under("d/"); got != nil {
		t.Error(got)
	}
}
