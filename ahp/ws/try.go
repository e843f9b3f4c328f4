package ws

import (
	"sync"
	"syscall"
)

// attempt is a write to a socket that does not wait. It is pooled with its function, so
// that a write does not allocate.
type attempt struct {
	b  []byte
	n  int
	fn func(fd uintptr) bool
}

var attempts = sync.Pool{New: func() any {
	a := &attempt{}
	a.fn = func(fd uintptr) bool {
		a.n = writeOnce(fd, a.b)
		return true // whatever the result: the caller decides whether to wait
	}
	return a
}}

// tryWrite writes the bytes that the socket takes without waiting, and returns how many
// those are. It returns 0 if the socket is full or broken, or if there is none (TLS,
// tests). A write that waits will return the error.
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

// rawConn returns the socket of nc, or nil if it cannot be used without waiting.
func rawConn(nc any) syscall.RawConn {
	if sc, ok := nc.(syscall.Conn); ok && canTry {
		if raw, err := sc.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// CanTry reports whether TryWriteBatch can take messages. It cannot with TLS, if the
// connection is sealed, or if it is not a socket.
func (c *Conn) CanTry() bool { return c.out.nc.raw != nil && c.sealed == nil }

// TryWriteBatch is WriteBatch without waiting. It returns how many messages it took. The
// caller writes the others with WriteBatch. It takes none if another goroutine is
// writing or the connection has ended, and it stops before a message above 64 KiB. One
// goroutine writes at a time.
func (c *Conn) TryWriteBatch(msgs [][]byte) (taken int) {
	if !c.CanTry() {
		return 0
	}
	return c.out.try(msgs, c.out.appendFrames)
}

// TryWriteFramed is TryWriteBatch for results of [Framed], of any length.
func (c *Conn) TryWriteFramed(parts [][]byte) (taken int) {
	if !c.CanTry() {
		return 0
	}
	return c.out.try(parts, merge)
}

// try writes messages without waiting. next encodes the first messages into space, and
// returns the bytes and how many messages they are.
func (w *writer) try(msgs [][]byte, next func(space []byte, msgs [][]byte) ([]byte, int)) (taken int) {
	if !w.beginTry() {
		return 0
	}
	piece := pieces.Get().(*[]byte)
	for taken < len(msgs) {
		buf, n := next((*piece)[:0], msgs[taken:])
		wrote := tryWrite(w.nc.raw, buf)
		if wrote == 0 {
			break
		}
		taken += n
		if wrote < len(buf) {
			go w.completeTry(piece, buf[wrote:])
			return taken
		}
	}
	w.endTry(piece)
	return taken
}

// beginTry takes the writing lock. It returns false if the lock is held or the
// connection has ended.
func (w *writer) beginTry() bool {
	select {
	case w.writing <- struct{}{}:
	default:
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil {
		<-w.writing
		return false
	}
	w.wg.Add(1)
	return true
}

// endTry releases the writing lock.
func (w *writer) endTry(piece *[]byte) {
	pieces.Put(piece)
	<-w.writing
	w.wg.Done()
}

// completeTry writes the rest of a frame that a try has begun, and waits for the socket.
// Other writers wait for it.
func (w *writer) completeTry(piece *[]byte, b []byte) {
	defer w.endTry(piece)
	_ = w.writeAll(b)
}
