package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// key names an instance for flows, registry and store.
type key struct{ session, instance string }

// flows serialises open, invoke and close of one instance, and leaves different
// instances alone. A turn is waited for in the order of arrival.
type flows struct {
	limit int // of turns that wait at one key

	mu    sync.Mutex
	turns map[key][]chan struct{} // who waits at a key that somebody has; no entry where nobody does
}

// acquire waits for the key's turn. The returned function ends it and must be
// called once.
func (f *flows) acquire(ctx context.Context, k key) (release func(), err error) {
	return f.within(ctx, k, f.limit)
}

// within is acquire where fewer than limit wait.
func (f *flows) within(ctx context.Context, k key, limit int) (release func(), err error) {
	release = func() { f.release(k) }
	mine, err := f.want(k, limit)
	if err != nil || mine == nil {
		return release, err
	}
	select {
	case <-mine:
		return release, nil
	case <-ctx.Done():
	}
	if !f.leave(k, mine) {
		f.release(k) // it was given to it meanwhile
	}
	return nil, ended(ctx)
}

// want takes the turn where nobody has it. Else it returns what is closed when the
// turn is the caller's.
func (f *flows) want(k key, limit int) (mine chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting, taken := f.turns[k]
	if !taken {
		f.turns[k] = nil
		return nil, nil
	}
	if len(waiting) >= limit {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%d operations wait for canvas %q already: wait for them first", limit, k.instance)
	}
	mine = make(chan struct{})
	f.turns[k] = append(waiting, mine)
	return mine, nil
}

// leave reports whether mine still waited.
func (f *flows) leave(k key, mine chan struct{}) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.Index(f.turns[k], mine)
	if at >= 0 {
		f.turns[k] = slices.Delete(f.turns[k], at, at+1)
	}
	return at >= 0
}

// release gives the turn to the first who waits.
func (f *flows) release(k key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := f.turns[k]
	if len(waiting) == 0 {
		delete(f.turns, k)
		return
	}
	f.turns[k] = waiting[1:]
	close(waiting[0])
}
