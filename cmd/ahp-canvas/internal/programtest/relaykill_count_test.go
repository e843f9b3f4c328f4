package programtest

import (
	"fmt"
	"sync"
	"testing"
)

// tally counts how often each request ran. A request is sent once, under a unique name.
type tally struct {
	what string
	most int // how often one may be done

	mu   sync.Mutex
	sent map[string]bool // whether it was answered
	done map[string]int
	next int

	failure error // the last one
}

func newTally(what string) *tally {
	return &tally{what: what, most: 1, sent: map[string]bool{}, done: map[string]int{}}
}

// newReads counts requests that change nothing, which clients repeat once.
func newReads() *tally {
	c := newTally("read")
	c.most = 2
	return c
}

// send makes up a name, sends a request, and records whether it was answered.
func (c *tally) send(do func(id string) error) (answered bool) {
	c.mu.Lock()
	c.next++
	id := fmt.Sprintf("%s%d", c.what, c.next)
	c.sent[id] = false
	c.mu.Unlock()
	err := do(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[id] = err == nil
	if err != nil {
		c.failure = err
	}
	return err == nil
}

// count counts a request where it is done.
func (c *tally) count(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[id]++
}

// unanswered returns how many requests failed.
func (c *tally) unanswered() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.sent {
		if !known {
			n++
		}
	}
	return n
}

// check fails the test unless every answered request was done, and none too often. It logs
// the numbers.
func (c *tally) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	answered, silent, silentDone := 0, 0, 0
	for id, known := range c.sent {
		n := c.done[id]
		switch {
		case known && (n == 0 || n > c.most):
			t.Errorf("%s has an answer and was done %d times", id, n)
		case n > c.most:
			t.Errorf("%s has no answer and was done %d times", id, n)
		case known:
			answered++
		default:
			silent++
			silentDone += n
		}
	}
	for id := range c.done {
		if _, known := c.sent[id]; !known {
			t.Errorf("%s was done and never sent", id)
		}
	}
	if c.failure != nil {
		t.Logf("%s: the last failure: %v", c.what, c.failure)
	}
	t.Logf("%-9s %6d answered, none done too often; %5d without an answer, of which %4d were done", c.what, answered, silent, silentDone)
	if answered < 50 {
		t.Errorf("%s: %d answers are too few for a load", c.what, answered)
	}
}
