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

// Many callers, again and again: each is done exactly once, and one has the turn
// at a time.
func TestEachIsDoneOnce(t *testing.T) {
	var line groupcommit.Queue[int]
	var turn sync.Mutex
	done := make([]int, 64*200)
	groups := 0
	var wg sync.WaitGroup
	for c := range 64 {
		wg.Go(func() {
			for i := range 200 {
				p := &groupcommit.Waiter[int]{Value: c*200 + i}
				if line.Join(context.Background(), nil, p) != groupcommit.Lead {
					continue
				}
				if !turn.TryLock() {
					t.Error("two have the turn")
					return
				}
				group := line.Take(always)
				if group[0] != p {
					t.Error("a group does not begin with its leader")
				}
				groups++
				for _, each := range group {
					done[each.Value]++
				}
				turn.Unlock()
				line.Pass()
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

// What waits goes in the order in which it came, as far as it fits; who leaves is
// not taken along, and who was told to lead cannot leave.
func TestOrderAndLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var line groupcommit.Queue[int]
		first := &groupcommit.Waiter[int]{Value: 0}
		if w := line.Join(t.Context(), nil, first); w != groupcommit.Lead {
			t.Fatalf("alone, and told %d", w)
		}
		line.Take(always)
		words := make([]groupcommit.Result, 6)
		var wg sync.WaitGroup
		join := func(i int, ctx context.Context, stop chan struct{}) *groupcommit.Waiter[int] {
			p := &groupcommit.Waiter[int]{Value: i}
			wg.Go(func() { words[i] = line.Join(ctx, stop, p) })
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
		line.Pass()
		time.Sleep(2 * time.Hour) // leads is over, too late
		var took []int
		for _, p := range line.Take(func(i int) bool { return i < 5 }) {
			took = append(took, p.Value)
			p.Finish(groupcommit.Done + 1)
		}
		line.Pass()
		line.Take(always)
		last.Finish(groupcommit.Done) // it leads: nothing waits for this
		line.Pass()
		wg.Wait()
		want := []groupcommit.Result{0, groupcommit.Canceled, groupcommit.Lead, groupcommit.Canceled, groupcommit.Done + 1, groupcommit.Lead}
		if fmt.Sprint(took) != "[2 4]" || !slices.Equal(words, want) {
			t.Errorf("took %v, told %v", took, words)
		}
	})
}

func ExampleQueue() {
	var line groupcommit.Queue[string]
	save := func(text string) {
		p := &groupcommit.Waiter[string]{Value: text}
		if line.Join(context.Background(), nil, p) != groupcommit.Lead {
			return // somebody did it for us
		}
		group := line.Take(func(string) bool { return true })
		for _, each := range group {
			fmt.Println("saved", each.Value)
		}
		line.Pass()
		for _, each := range group {
			each.Finish(groupcommit.Done)
		}
	}
	save("one")
	// Output: saved one
}
