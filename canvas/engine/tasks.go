package engine

import (
	"context"
	"sync"
	"time"
)

// tasks owns every goroutine and timer of the service: none outlives it.
type tasks struct {
	ctx    context.Context // done when the service ends
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	n      int
	zero   chan struct{} // closed when n is 0; nil while nobody waits
}

func newTasks() *tasks {
	t := &tasks{}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// start runs fn in a goroutine. It reports false, and runs nothing, once the
// service has ended.
func (t *tasks) start(fn func()) bool {
	if !t.enter() {
		return false
	}
	go func() {
		defer t.leave()
		fn()
	}()
	return true
}

// after runs fn when d is over, unless the service has ended by then.
func (t *tasks) after(d time.Duration, fn func()) *time.Timer {
	return time.AfterFunc(d, func() {
		if t.enter() {
			defer t.leave()
			fn()
		}
	})
}

func (t *tasks) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.n++
	return true
}

func (t *tasks) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.zero != nil {
		close(t.zero)
		t.zero = nil
	}
}

// stop cancels what runs and waits for it, or until ctx is done.
func (t *tasks) stop(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	t.cancel()
	if t.n == 0 {
		t.mu.Unlock()
		return nil
	}
	if t.zero == nil {
		t.zero = make(chan struct{})
	}
	zero := t.zero
	t.mu.Unlock()
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
