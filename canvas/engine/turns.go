package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// turns serializes the flows of each instance in the order of their arrival. Flows of
// different instances run concurrently.
type turns struct {
	limit int // of flows that wait for one instance

	mu      sync.Mutex
	waiting map[key][]chan struct{} // flows that wait; an entry without any is a flow that runs alone
}

func newTurns(limit int) turns { return turns{limit: limit, waiting: map[key][]chan struct{}{}} }

// take waits for a turn. The returned function ends it and must be called once.
func (t *turns) take(ctx context.Context, k key) (release func(), err error) {
	return t.takeWithin(ctx, k, t.limit)
}

// takeWithin is take if fewer than limit flows wait.
func (t *turns) takeWithin(ctx context.Context, k key, limit int) (release func(), err error) {
	release = func() { t.release(k) }
	mine, err := t.enqueue(k, limit)
	if err != nil || mine == nil {
		return release, err
	}
	select {
	case <-mine:
		return release, nil
	case <-ctx.Done():
	}
	if !t.leave(k, mine) {
		t.release(k) // the turn came in the meantime
	}
	return nil, ended(ctx)
}

// enqueue takes the turn if it is free. Otherwise it returns a channel that is closed
// when the turn is the caller's.
func (t *turns) enqueue(k key, limit int) (mine chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting, taken := t.waiting[k]
	if !taken {
		t.waiting[k] = nil
		return nil, nil
	}
	if len(waiting) >= limit {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%d operations already wait for canvas %q: wait for them first", limit, k.instance)
	}
	mine = make(chan struct{})
	t.waiting[k] = append(waiting, mine)
	return mine, nil
}

// leave removes a waiting flow. It returns false if its turn has come.
func (t *turns) leave(k key, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.waiting[k], mine)
	if at >= 0 {
		t.waiting[k] = slices.Delete(t.waiting[k], at, at+1)
	}
	return at >= 0
}

// release gives the turn to the flow that waited longest.
func (t *turns) release(k key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.waiting[k]
	if len(waiting) == 0 {
		delete(t.waiting, k)
		return
	}
	t.waiting[k] = waiting[1:]
	close(waiting[0])
}
