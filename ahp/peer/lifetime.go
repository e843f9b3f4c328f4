package peer

import (
	"context"
	"sync"
	"time"
)

// lifetime is a connection's context: it is canceled when nothing more is read. Unlike a
// context of package context, it takes no memory until something waits for it.
type lifetime struct {
	mu    sync.Mutex // a leaf
	ended bool
	done  chan struct{}        // nil until it is needed
	after map[*func()]struct{} // the functions of AfterFunc; nil without any
}

var _ context.Context = (*lifetime)(nil)

// Deadline implements context.Context.
func (*lifetime) Deadline() (deadline time.Time, ok bool) { return deadline, false }

// Value implements context.Context.
func (*lifetime) Value(any) any { return nil }

// Done implements context.Context.
func (l *lifetime) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.ended {
			close(l.done)
		}
	}
	return l.done
}

// Err implements context.Context.
func (l *lifetime) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return context.Canceled
	}
	return nil
}

// AfterFunc saves package context a goroutine for each context that is derived from l.
func (l *lifetime) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		go f()
		return func() bool { return false }
	}
	if l.after == nil {
		l.after = map[*func()]struct{}{}
	}
	l.after[&f] = struct{}{}
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, waits := l.after[&f]
		if delete(l.after, &f); len(l.after) == 0 {
			l.after = nil
		}
		return waits
	}
}

// cancel cancels the context.
func (l *lifetime) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	if l.done != nil {
		close(l.done)
	}
	for f := range l.after {
		go (*f)()
	}
	l.after = nil
}
