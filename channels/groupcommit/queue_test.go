package groupcommit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

func always(int) bool { return true }

// TestEachIsDoneOnce: with many concurrent callers, each value is handled exactly
// once, and there is one leader at a time.
func TestEachIsDoneOnce(t *testing.T) {
	var queue groupcommit.Queue[int]
	var leading sync.Mutex
	done := make([]int, 64*200)
	groups := 0
	var wg sync.WaitGroup
	for c := range 64 {
		wg.Go(func() {
			for i := range 200 {
				p := &groupcommit.Waiter[int]{Value: c*200 + i}
				if queue.Join(context.Background(), nil, p) != groupcommit.Lead {
					continue
				}
				if !leading.TryLock() {
					t.Error("two callers lead")
					return
				}
				group := queue.Take(always)
				if group[0] != p {
					t.Error("a group does not begin with its leader")
				}
				groups++
				for _, each := range group {
					done[each.Value]++
				}
				leading.Unlock()
				queue.Pass()
				for _, each := range group {
					each.Finish(groupcommit.Done)
				}
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(done, func(n int) bool { return n != 1 }); i >= 0 {
		t.Errorf("%d was done %d times", i, done[i])
	}
	t.Logf("%d in %d groups", len(done), groups)
}

// TestOrderAndLeaving: waiters are taken in order, as far as they fit. A canceled
// waiter is not taken, and one that leads cannot be canceled.
func TestOrderAndLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var queue groupcommit.Queue[int]
		first := &groupcommit.Waiter[int]{Value: 0}
		if w := queue.Join(t.Context(), nil, first); w != groupcommit.Lead {
			t.Fatalf("first caller: %d, want Lead", w)
		}
		queue.Take(always)
		results := make([]groupcommit.Result, 6)
		var wg sync.WaitGroup
		join := func(i int, ctx context.Context, stop chan struct{}) *groupcommit.Waiter[int] {
			p := &groupcommit.Waiter[int]{Value: i}
			wg.Go(func() { results[i] = queue.Join(ctx, stop, p) })
			synctest.Wait()
			return p
		}
		ctx, cancel := context.WithCancel(t.Context())
		leads, ends := context.WithTimeout(t.Context(), time.Hour)
		defer ends()
		stop := make(chan struct{})
		join(1, ctx, nil)
		join(2, leads, nil)
		join(3, t.Context(), stop)
		join(4, t.Context(), nil)
		last := join(5, t.Context(), nil)
		cancel()
		close(stop)
		synctest.Wait()
		queue.Pass()
		time.Sleep(2 * time.Hour) // its context ends, but it leads already
		var took []int
		for _, p := range queue.Take(func(i int) bool { return i < 5 }) {
			took = append(took, p.Value)
			p.Finish(groupcommit.Done + 1)
		}
		queue.Pass()
		queue.Take(always)
		last.Finish(groupcommit.Done) // has no effect: it leads
		queue.Pass()
		wg.Wait()
		want := []groupcommit.Result{0, groupcommit.Canceled, groupcommit.Lead, groupcommit.Canceled, groupcommit.Done + 1, groupcommit.Lead}
		if fmt.Sprint(took) != "[2 4]" || !slices.Equal(results, want) {
			t.Errorf("took %v, results %v", took, results)
		}
	})
}

func ExampleQueue() {
	var queue groupcommit.Queue[string]
	save := func(text string) {
		p := &groupcommit.Waiter[string]{Value: text}
		if queue.Join(context.Background(), nil, p) != groupcommit.Lead {
			return // another caller did it
		}
		group := queue.Take(func(string) bool { return true })
		for _, each := range group {
			fmt.Println("saved", each.Value)
		}
		queue.Pass()
		for _, each := range group {
			each.Finish(groupcommit.Done)
		}
	}
	save("one")
	// Output: saved one
}
