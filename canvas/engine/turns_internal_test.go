package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// Where a turn is given to who is just leaving, the next one has it: none is lost.
func TestTurnIsGivenToWhoLeaves(t *testing.T) {
	f := newTurns(8)
	k := key{"s", "i"}
	for range 2000 {
		first, err := f.take(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if release, err := f.take(ctx, k); err == nil {
				release()
			}
		})
		for f.queued(k) == 0 {
			runtime.Gosched()
		}
		cancel()
		first()
		wg.Wait()
		if _, taken := f.waiting[k]; taken {
			t.Fatal("a turn that nobody has is taken")
		}
	}
}

func (f *turns) queued(k key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting[k])
}
