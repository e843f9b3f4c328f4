package canvas

import (
	"context"
	"sync"
)

// key names an instance for flows, registry and store.
type key struct{ session, instance string }

// flows serialises open, invoke and close of one instance, and leaves different
// instances alone. A turn is waited for in the order of arrival.
type flows struct {
	limit int // of turns that wait at one key

	mu    sync.Mutex
	turns map[key]*turn
}

// turn is the queue of one key; it exists while somebody holds or wants it.
type turn struct {
	free   chan struct{} // holds one token while nobody is at it
	wanted int           // holder and waiters
}

// acquire waits for the key's turn. The returned function ends it and must be
// called once.
func (f *flows) acquire(ctx context.Context, k key) (release func(), err error) {
	t, err := f.want(k)
	if err != nil {
		return nil, err
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; f.unwant(k, t) }, nil
	case <-ctx.Done():
		f.unwant(k, t)
		return nil, ended(ctx)
	}
}

func (f *flows) want(k key) (*turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.turns[k]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		f.turns[k] = t
	}
	if t.wanted > f.limit {
		return nil, errorf(CodeLimitExceeded, "%d operations wait for canvas %q already: wait for them first", f.limit, k.instance)
	}
	t.wanted++
	return t, nil
}

func (f *flows) unwant(k key, t *turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.wanted--; t.wanted == 0 {
		delete(f.turns, k)
	}
}
