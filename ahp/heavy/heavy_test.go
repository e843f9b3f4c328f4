package heavy

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestTurns checks that heavy work leaves a processor to others, and that short work does
// not wait for it.
func TestTurns(t *testing.T) {
	most := int32(cap(turns))
	var running, highest atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				Do(From, func() {
					if n := running.Add(1); n > highest.Load() {
						highest.Store(n)
					}
					running.Add(-1)
				})
			}
		})
	}
	wg.Wait()
	if highest.Load() > most {
		t.Errorf("%d turns at once, at most %d are allowed", highest.Load(), most)
	}
	for range most {
		Begin()
	}
	ran := false
	Do(From-1, func() { ran = true })
	if !ran {
		t.Error("short work did not run")
	}
	for range most {
		End()
	}
}
