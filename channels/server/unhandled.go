package server

import (
	"context"
	"sync/atomic"
)

// These are how many dispatches of a connection are read before the first of them is
// handled, which is when its cost is known. A message to a canvas costs a tenth.
const (
	mostUnhandled         = 8
	mostUnhandledMessages = 80
)

// unhandled counts the dispatches of a connection that were read and not yet handled.
type unhandled struct {
	n        atomic.Int32
	messages atomic.Bool   // the last one that was handled was a message
	half     chan struct{} // one token: there are few again
}

// add counts a dispatch, and waits while there are too many. Only the reader calls it.
func (u *unhandled) add(ctx context.Context) {
	most := int32(mostUnhandled)
	if u.messages.Load() {
		most = mostUnhandledMessages
	}
	if u.n.Add(1) <= most {
		return
	}
	for u.n.Load() > most/2 {
		select {
		case <-u.half:
		case <-ctx.Done():
			return
		}
	}
}

func (u *unhandled) done() {
	switch u.n.Add(-1) {
	case mostUnhandled / 2, mostUnhandledMessages / 2:
		select {
		case u.half <- struct{}{}:
		default:
		}
	}
}
