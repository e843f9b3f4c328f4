package bridge

import (
	"context"
	"sync"
)

// window is a flow control window: the bytes that can still be sent, for a request or
// for a connection. Waiters are served in order, so that small requests cannot starve
// large ones.
type window struct {
	limit int64 // maximum of left

	mu    sync.Mutex
	left  int64
	queue []*waiter
}

type waiter struct {
	n     int64
	ready chan struct{} // closed when n bytes were taken for the waiter
}

// newWindow returns the window of a request. Its receiver can enlarge it.
func newWindow(size int64) *window { return &window{left: size, limit: maxAmount} }

// newConnWindow returns the window of a connection, which cannot exceed its initial
// size. So credit for bytes that a previous Server sent has no effect.
func newConnWindow(size int64) *window { return &window{left: size, limit: size} }

// take waits until n bytes are available and takes them. If ctx is canceled first, it
// takes nothing and returns the context's cause.
func (w *window) take(ctx context.Context, n int64) error {
	if n == 0 {
		return nil
	}
	w.mu.Lock()
	if len(w.queue) == 0 && w.left >= n {
		w.left -= n
		w.mu.Unlock()
		return nil
	}
	me := &waiter{n: n, ready: make(chan struct{})}
	w.queue = append(w.queue, me)
	w.mu.Unlock()
	select {
	case <-me.ready:
		return nil
	case <-ctx.Done():
		w.leave(me)
		return context.Cause(ctx)
	}
}

// leave removes a waiter, and returns the bytes that it might have received meanwhile.
func (w *window) leave(me *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-me.ready:
		w.left += me.n
	default:
		for i, o := range w.queue {
			if o == me {
				w.queue = append(w.queue[:i], w.queue[i+1:]...)
				break
			}
		}
	}
	w.serve()
}

// give adds n bytes. It returns false if the window would exceed its limit, which it
// then has.
func (w *window) give(n int64) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += n
	if ok = w.left <= w.limit; !ok {
		w.left = w.limit
	}
	w.serve()
	return ok
}

func (w *window) serve() {
	for len(w.queue) > 0 && w.queue[0].n <= w.left {
		w.left -= w.queue[0].n
		close(w.queue[0].ready)
		w.queue = w.queue[1:]
	}
}
