package ws

import (
	"sync"
	"syscall"
)

// attempt is one write to a socket that waits for nothing. The function is bound
// once, so that a write allocates nothing.
type attempt struct {
	b  []byte
	n  int
	fn func(fd uintptr) bool
}

var attempts = sync.Pool{New: func() any {
	a := &attempt{}
	a.fn = func(fd uintptr) bool {
		a.n = writeOnce(fd, a.b)
		return true // whatever came of it: who waits is somebody else's decision
	}
	return a
}}

// tryWrite writes what the socket takes at once and returns how much that was: 0
// where it is full, broken, or no socket at all (TLS, a test's network). What is
// wrong with it shows in the write that waits.
func tryWrite(raw syscall.RawConn, b []byte) int {
	if raw == nil || len(b) == 0 {
		return 0
	}
	a := attempts.Get().(*attempt)
	a.b, a.n = b, 0
	_ = raw.Write(a.fn)
	n := a.n
	a.b = nil
	attempts.Put(a)
	return n
}

// rawConn returns the way around the waiting of a connection, or nil.
func rawConn(nc any) syscall.RawConn {
	if sc, ok := nc.(syscall.Conn); ok && canTry {
		if raw, err := sc.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// CanTry reports whether TryWriteBatch ever takes anything: whether there is a
// socket right below, and no TLS.
func (c *Conn) CanTry() bool { return c.nc.raw != nil }

// TryWriteBatch is WriteBatch as far as the socket takes it without a wait. It
// returns how many of the messages are on their way, whole and in their order;
// the others the caller writes with WriteBatch. It takes none where somebody else
// is writing, the connection has ended, or a message is above 64 KiB. Like
// WriteBatch it belongs to the one goroutine that writes at a time.
func (c *Conn) TryWriteBatch(msgs [][]byte) (taken int) { return c.try(msgs, c.gather) }

// TryWriteFramed is TryWriteBatch for what [Framed] returned, of whatever length.
func (c *Conn) TryWriteFramed(parts [][]byte) (taken int) { return c.try(parts, merge) }

// try writes one after the other what next makes of the first messages in the
// room that it is given.
func (c *Conn) try(msgs [][]byte, next func(room []byte, msgs [][]byte) ([]byte, int)) (taken int) {
	if !c.CanTry() || !c.beginTry() {
		return 0
	}
	piece := pieces.Get().(*[]byte)
	for taken < len(msgs) {
		buf, n := next((*piece)[:0], msgs[taken:])
		wrote := tryWrite(c.nc.raw, buf)
		if wrote == 0 {
			break
		}
		taken += n
		if wrote < len(buf) {
			go c.completeTry(piece, buf[wrote:])
			return taken
		}
	}
	c.endTry(piece)
	return taken
}

// beginTry takes the lock of the writers, if it is free and the connection
// lives.
func (c *Conn) beginTry() bool {
	select {
	case c.writing <- struct{}{}:
	default:
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		<-c.writing
		return false
	}
	c.wg.Add(1)
	return true
}

func (c *Conn) endTry(piece *[]byte) {
	pieces.Put(piece)
	<-c.writing
	c.wg.Done()
}

// completeTry writes the rest of what a try has begun, with the patience of
// every write. Other writers wait for it.
func (c *Conn) completeTry(piece *[]byte, b []byte) {
	defer c.endTry(piece)
	_ = c.rest(b)
}
