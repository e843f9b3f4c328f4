package server

import (
	"context"
	"sync/atomic"
)

// mostUnhandled is how many dispatches of a connection are read before the first of them
// is handled, which is when its cost is known.
const mostUnhandled = 8

// unhandled counts the dispatches of a connection that were read and not yet handled.
type unhandled struct {
	n    atomic.Int32
	half chan struct{} // one token: there are few again
}

// add counts a dispatch, and waits while there are too many. Only the reader calls it.
func (u *unhandled) add(ctx context.Context) {
	if u.n.Add(1) <= mostUnhandled {
		return
	}
	for u.n.Load() > mostUnhandled/2 {
		select {
		case <-u.half:
		case <-ctx.Done():
			return
		}
	}
}

func (u *unhandled) done() {
	if u.n.Add(-1) == mostUnhandled/2 {
		select {
		case u.half <- struct{}{}:
		default:
		}
	}
}
