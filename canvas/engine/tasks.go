package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// tasks owns every goroutine and timer of the engine: none outlives it.
type tasks struct {
	ctx    context.Context // done when the engine shuts down
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	n      int
	zero   chan struct{} // closed when n is 0; nil unless stop waits
}

func newTasks() *tasks {
	t := &tasks{}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// start runs fn in a goroutine. After stop it runs nothing and returns false.
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

// after runs fn after d, unless stop was called by then.
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

// stop cancels the context of running tasks and waits for them, or until ctx is done.
func (t *tasks) stop(ctx context.Context) error {
	zero := t.close()
	if zero == nil {
		return nil
	}
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close refuses further tasks and cancels those that run. The returned channel is closed
// when they have ended; it is nil if there are none.
func (t *tasks) close() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.cancel()
	if t.n > 0 && t.zero == nil {
		t.zero = make(chan struct{})
	}
	return t.zero
}

// lifetime ends with the engine, or earlier. Its context is created on demand: few
// providers use it, and one for each handle would make as many children of the engine's
// context.
type lifetime struct {
	engine context.Context // the engine's
	ended  atomic.Bool

	mu     sync.Mutex
	ctx    context.Context // nil until it is asked for
	cancel context.CancelFunc
}

func (l *lifetime) over() bool { return l.ended.Load() || l.engine.Err() != nil }

// end ends the lifetime. It may be called more than once.
func (l *lifetime) end() {
	l.ended.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}

// context returns a context that is done when the lifetime is over.
func (l *lifetime) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		l.ctx, l.cancel = context.WithCancel(l.engine)
		if l.ended.Load() {
			l.cancel()
		}
	}
	return l.ctx
}
