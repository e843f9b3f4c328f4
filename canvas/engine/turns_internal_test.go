package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// If a turn is given to a flow that is giving up, the next flow gets it.
func TestTurnOfALeavingFlow(t *testing.T) {
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
			t.Fatal("the turn was not released")
		}
	}
}

func (f *turns) queued(k key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting[k])
}
