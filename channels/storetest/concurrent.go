package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

const (
	callers = 16
	rounds  = 25
)

// testConcurrent: concurrent batches are all applied.
func testConcurrent(t *testing.T, p *place) {
	p.start(t)
	var wg sync.WaitGroup
	p.movePairs(t, &wg)
	wg.Wait()
	want := map[string]string{}
	for i := range callers {
		addPair(want, i, rounds-1)
	}
	check(t, p.load(t), want)
	check(t, p.again(t), want)
	p.stop(t)
}

// movePairs starts callers that each commit a pair of records in every round, and delete
// that of the previous round.
func (p *place) movePairs(t *testing.T, wg *sync.WaitGroup) {
	for i := range callers {
		wg.Go(func() {
			for round := range rounds {
				if err := p.s.Commit(t.Context(), pair(i, round)...); err != nil {
					t.Errorf("commit: %v", err)
				}
			}
		})
	}
}

func pair(caller, round int) []channels.Change {
	value := strconv.Itoa(round)
	return []channels.Change{
		set(fmt.Sprintf("left/%d/%d", caller, round), value), set(fmt.Sprintf("right/%d/%d", caller, round), value),
		gone(fmt.Sprintf("left/%d/%d", caller, round-1)), gone(fmt.Sprintf("right/%d/%d", caller, round-1)),
	}
}

func addPair(to map[string]string, caller, round int) {
	to[fmt.Sprintf("left/%d/%d", caller, round)] = strconv.Itoa(round)
	to[fmt.Sprintf("right/%d/%d", caller, round)] = strconv.Itoa(round)
}

// testIsolated: a batch that is refused does not fail concurrent batches.
func testIsolated(t *testing.T, p *place) {
	p.start(t)
	var wg sync.WaitGroup
	want := map[string]string{}
	for i := range callers {
		want[fmt.Sprint("good/", i)] = "1"
		wg.Go(func() {
			if err := p.s.Commit(t.Context(), set(fmt.Sprint("good/", i), "1")); err != nil {
				t.Errorf("a good batch: %v", err)
			}
		})
		wg.Go(func() {
			if err := p.s.Commit(t.Context(), set(fmt.Sprint("bad/", i), "1"), set("", "")); err == nil {
				t.Error("a bad batch was accepted")
			}
		})
	}
	wg.Wait()
	check(t, p.again(t), want)
	p.stop(t)
}

// testSuccessive: batches of different callers are applied in order if the Commit of one
// has returned before that of the next is called.
func testSuccessive(t *testing.T, p *place) {
	p.start(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	last := 0
	for range callers {
		wg.Go(func() {
			for range rounds {
				mu.Lock()
				last++
				err := p.s.Commit(t.Context(), set("last", strconv.Itoa(last)), set("of "+strconv.Itoa(last%7), strconv.Itoa(last)))
				mu.Unlock()
				if err != nil {
					t.Errorf("commit: %v", err)
				}
			}
		})
	}
	// More callers, so that batches share syncs.
	p.movePairs(t, &wg)
	wg.Wait()
	want := map[string]string{"last": strconv.Itoa(last)}
	for n := last - 6; n <= last; n++ {
		want["of "+strconv.Itoa(n%7)] = strconv.Itoa(n)
	}
	for i := range callers {
		addPair(want, i, rounds-1)
	}
	check(t, p.again(t), want)
	p.stop(t)
}

// testCloseUnderLoad: Close waits for accepted batches and refuses the others. Exactly
// the acknowledged batches are kept.
func testCloseUnderLoad(t *testing.T, p *place) {
	p.start(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var acknowledged atomic.Int64
	want := map[string]string{}
	enough := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			for round := 0; ; round++ {
				key := fmt.Sprintf("%d/%d", i, round)
				err := p.s.Commit(t.Context(), set(key, "1"))
				if errors.Is(err, channels.ErrStoreClosed) {
					return
				}
				if err != nil {
					t.Errorf("commit: %v", err)
					return
				}
				mu.Lock()
				want[key] = "1"
				mu.Unlock()
				if acknowledged.Add(1) == callers*2 {
					close(enough)
				}
			}
		})
	}
	<-enough
	p.stop(t)
	wg.Wait()
	check(t, p.start(t), want)
	p.stop(t)
}
