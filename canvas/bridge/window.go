package bridge

import (
	"context"
	"sync"
)

// window is what may still be sent: of a request, or of a lane. Those who wait
// for it are served in the order in which they came, so that nobody is starved
// by those who want less.
type window struct {
	most int64 // that left may be; more is not believed

	mu    sync.Mutex
	left  int64
	queue []*waiter
}

type waiter struct {
	n     int64
	ready chan struct{} // closed when n were taken for it
}

// newWindow makes a request's: its reader may give as much as it likes.
func newWindow(size int64) *window { return &window{left: size, most: maxAmount} }

// newLane makes a lane's, which cannot become larger than it was. So what is
// given back for bytes that a Server before this one sent does no harm.
func newLane(size int64) *window { return &window{left: size, most: size} }

// take takes n, and waits until they are there. It takes nothing where ctx is
// done first; the error is its cause.
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

// leave takes a waiter out, and gives back what it had got meanwhile.
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

// give adds n. It reports whether the window stays within its bound; it is held
// there.
func (w *window) give(n int64) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += n
	if ok = w.left <= w.most; !ok {
		w.left = w.most
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
