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

// refusing is a store that can be told to refuse.
type refusing struct {
	*Memory
	no      atomic.Bool
	batches atomic.Int64
}

func (r *refusing) Commit(ctx context.Context, changes ...Change) error {
	if r.no.Load() {
		return ErrStoreFull
	}
	r.batches.Add(1)
	return r.Memory.Commit(ctx, changes...)
}

func held(t *testing.T, s Store) map[string]string {
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

// TestWriteBehind: many marks are one batch with the newest values, within 50 ms; a
// store that refuses gets them when it is well again.
func TestWriteBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &refusing{Memory: NewMemory()}
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
			if diff := cmp.Diff(want, held(t, store)); diff != "" {
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
		store.no.Store(true)
		set("a", 1)
		time.Sleep(time.Second)
		set("a", 2)
		time.Sleep(time.Minute)
		check(map[string]string{"a": "999", "b": "-999"})
		store.no.Store(false)
		time.Sleep(maxWriteDelay)
		check(map[string]string{"a": "2", "b": "-999"})
		set("b", 3)
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(map[string]string{"a": "2", "b": "3"})
		set("b", 4) // too late
		time.Sleep(time.Minute)
		check(map[string]string{"a": "2", "b": "3"})
	})
}

// TestWriteBehindLeavesOut: a record that no store takes keeps no other from being kept.
func TestWriteBehindLeavesOut(t *testing.T) {
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
		if _, kept := held(t, store)["a"]; !kept {
			t.Error("what is beside a record that is too large is not kept")
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestRecordsUnder finds a kind's records and no other's.
func TestRecordsUnder(t *testing.T) {
	r := Records{{Key: "a"}, {Key: "b-c/1"}, {Key: "b/1"}, {Key: "b/2"}, {Key: "c"}}
	if diff := cmp.Diff(Records{{Key: "1"}, {Key: "2"}}, r.Under("b/")); diff != "" {
		t.Error(diff)
	}
	if got := r.Under("d/"); got != nil {
		t.Error(got)
	}
}
