package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// life ends with its service, or before it. Its context is made for who asks: one
// for every handle would be as many children of the service's, and few providers
// look at theirs.
type life struct {
	of    context.Context // the service's
	ended atomic.Bool

	mu     sync.Mutex
	ctx    context.Context // nil until somebody asks
	cancel context.CancelFunc
}

func (l *life) over() bool { return l.ended.Load() || l.of.Err() != nil }

// end may be called more than once.
func (l *life) end() {
	l.ended.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}

// context is done when the life is over.
func (l *life) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		l.ctx, l.cancel = context.WithCancel(l.of)
		if l.ended.Load() {
			l.cancel()
		}
	}
	return l.ctx
}
