package bridge

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Waiters are served in order, so that small amounts do not starve large ones.
func TestWindowTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow(10)
		var mu sync.Mutex
		var order []int64
		var wg sync.WaitGroup
		for _, n := range []int64{8, 7, 1, 2} {
			wg.Go(func() {
				if err := w.take(t.Context(), n); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, n)
			})
			synctest.Wait()
		}
		if !slices.Equal(order, []int64{8}) {
			t.Errorf("%v were served from a window of 10", order)
		}
		for range 8 {
			w.give(1)
			synctest.Wait()
		}
		wg.Wait()
		if !slices.Equal(order, []int64{8, 7, 1, 2}) {
			t.Errorf("they were served as %v", order)
		}
	})
}

// A canceled waiter takes nothing, and does not block those behind it.
func TestWindowCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow(10)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var large, small error
		wg.Go(func() { large = w.take(ctx, 20) })
		synctest.Wait()
		wg.Go(func() { small = w.take(t.Context(), 4) })
		synctest.Wait()
		cancel()
		wg.Wait()
		if !errors.Is(large, context.Canceled) || small != nil || w.left != 6 || len(w.queue) != 0 {
			t.Errorf("got %v and %v, %d are left, %d wait", large, small, w.left, len(w.queue))
		}
	})
}
