package ahptest

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// DefaultBuffer is how many bytes each direction of a connection buffers before a write
// blocks.
const DefaultBuffer = 256 << 10

// Conn is one end of an in-memory connection. It has deadlines and a half close, and can
// fail like a real network: see Freeze and CutAfter.
type Conn struct {
	in, out       *half
	local, remote net.Addr
}

var _ net.Conn = (*Conn)(nil)

// Pipe returns the two ends of a connection. size is the buffer of each direction in
// bytes, and 0 means DefaultBuffer.
func Pipe(size int) (a, b *Conn) {
	return pipe(size, Addr("a"), Addr("b"))
}

func pipe(size int, addrA, addrB net.Addr) (a, b *Conn) {
	if size <= 0 {
		size = DefaultBuffer
	}
	there, back := newHalf(size), newHalf(size)
	there.other, back.other = back, there
	return &Conn{back, there, addrA, addrB}, &Conn{there, back, addrB, addrA}
}

// Read reads bytes that the other end has written.
func (c *Conn) Read(b []byte) (int, error) { return c.in.read(b) }

// Write waits while the buffer is full. At the deadline it returns how many bytes it has
// written.
func (c *Conn) Write(b []byte) (int, error) { return c.out.write(b) }

// Close ends both directions. The other end can still read the buffered bytes.
func (c *Conn) Close() error {
	c.out.endWrite()
	c.in.endRead()
	return nil
}

// CloseWrite ends this end's direction. The other end reads io.EOF after the buffered
// bytes.
func (c *Conn) CloseWrite() error {
	c.out.endWrite()
	return nil
}

// LocalAddr returns the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

// SetReadDeadline ends waiting reads at t. The zero time means never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}

// SetWriteDeadline ends waiting writes at t. The zero time means never.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

// Freeze makes this end behave like a process that hangs: its reads and writes wait until
// Thaw. The other end notices nothing until the buffer is full or a deadline expires.
func (c *Conn) Freeze() { c.setFrozen(true) }

// Thaw ends Freeze.
func (c *Conn) Thaw() { c.setFrozen(false) }

func (c *Conn) setFrozen(on bool) {
	c.in.change(func() { c.in.readFrozen = on })
	c.out.change(func() { c.out.writeFrozen = on })
}

// CutAfter breaks the connection in both directions once this end has written n more
// bytes. Buffered bytes are lost, as with a reset.
func (c *Conn) CutAfter(n int) {
	c.out.change(func() { c.out.cutIn = n })
}

// half is one direction. Its mutex is never held while waiting.
type half struct {
	mu    sync.Mutex
	cond  *sync.Cond
	other *half // the other direction, for a cut; set once

	buf  []byte
	size int
	eof  bool // the writer closed
	gone bool // the reader closed
	cut  bool // the connection is broken

	readFrozen, writeFrozen bool
	cutIn                   int // bytes until the cut; negative means never
	readBy, writeBy         deadline
}

// deadline is a time with a timer that wakes those who wait.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func newHalf(size int) *half {
	h := &half{size: size, cutIn: -1}
	h.cond = sync.NewCond(&h.mu)
	return h
}

// change calls fn under the lock, and wakes readers and writers.
func (h *half) change(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fn()
	h.cond.Broadcast()
}

func (h *half) endWrite() { h.change(func() { h.eof = true; h.writeBy.stop() }) }
func (h *half) endRead()  { h.change(func() { h.gone = true; h.readBy.stop() }) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (h *half) setDeadline(d *deadline, at time.Time) {
	h.change(func() {
		d.stop()
		d.at = at
		if wait := time.Until(at); !at.IsZero() && wait > 0 {
			d.timer = time.AfterFunc(wait, func() { h.change(func() {}) })
		}
	})
}

func (h *half) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.gone:
			return 0, net.ErrClosed
		case h.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case h.readFrozen:
		case h.cut:
			return 0, syscall.ECONNRESET
		case len(b) == 0:
			return 0, nil
		case len(h.buf) > 0:
			n := copy(b, h.buf)
			h.buf = h.buf[n:]
			h.cond.Broadcast()
			return n, nil
		case h.eof:
			return 0, io.EOF
		}
		h.cond.Wait()
	}
}

func (h *half) write(b []byte) (n int, err error) {
	cut := false
	h.mu.Lock()
	for {
		m := 0
		if m, err = h.put(b); m > 0 {
			n += m
			b = b[m:]
			h.cond.Broadcast()
		}
		if cut = h.cutIn == 0; cut || err != nil || len(b) == 0 {
			break
		}
		h.cond.Wait()
	}
	h.mu.Unlock()
	if cut {
		h.breakOff()
		h.other.breakOff()
		return n, syscall.ECONNRESET
	}
	return n, err
}

// put buffers the bytes that fit. If it returns neither bytes nor an error, the caller
// waits.
func (h *half) put(b []byte) (int, error) {
	switch {
	case h.eof:
		return 0, net.ErrClosed
	case h.writeBy.passed():
		return 0, os.ErrDeadlineExceeded
	case h.writeFrozen:
		return 0, nil
	case h.cut:
		return 0, syscall.ECONNRESET
	case h.gone:
		return 0, syscall.EPIPE
	}
	n := min(len(b), h.size-len(h.buf))
	if h.cutIn >= 0 {
		n = min(n, h.cutIn)
		h.cutIn -= n
	}
	h.buf = append(h.buf, b[:n]...)
	return n, nil
}

// breakOff breaks this direction.
func (h *half) breakOff() {
	h.change(func() { h.cut, h.cutIn, h.buf = true, -1, nil })
}
