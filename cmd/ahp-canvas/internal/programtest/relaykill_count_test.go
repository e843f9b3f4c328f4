package programtest

import (
	"fmt"
	"sync"
	"testing"
)

// tally counts, of things that each were asked once under a name of their own,
// how often they were done.
type tally struct {
	what string

	mu    sync.Mutex
	asked map[string]bool // whether an answer came
	done  map[string]int
	next  int
}

func newTally(what string) *tally {
	return &tally{what: what, asked: map[string]bool{}, done: map[string]int{}}
}

// ask makes up a name, has it asked once, and notes whether an answer came.
func (c *tally) ask(do func(id string) error) (answered bool) {
	c.mu.Lock()
	c.next++
	id := fmt.Sprintf("%s%d", c.what, c.next)
	c.asked[id] = false
	c.mu.Unlock()
	err := do(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[id] = err == nil
	return err == nil
}

// hear counts what is done, where it is done.
func (c *tally) hear(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[id]++
}

// check prints the figures: what has an answer was done once, what has none at
// most once.
func (c *tally) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	answered, silent, silentDone := 0, 0, 0
	for id, known := range c.asked {
		n := c.done[id]
		switch {
		case known && n != 1:
			t.Errorf("%s has an answer and was done %d times", id, n)
		case n > 1:
			t.Errorf("%s has no answer and was done %d times", id, n)
		case known:
			answered++
		default:
			silent++
			silentDone += n
		}
	}
	for id := range c.done {
		if _, known := c.asked[id]; !known {
			t.Errorf("%s was done, and nobody asked for it", id)
		}
	}
	t.Logf("%-9s %6d answered, each done once; %5d without an answer, of which %4d were done, once", c.what, answered, silent, silentDone)
	if answered < 50 {
		t.Errorf("%s: %d answers are hardly a load", c.what, answered)
	}
}
