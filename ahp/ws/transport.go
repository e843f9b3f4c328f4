package ws

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// transport is between gorilla and the socket. Once it is sealed, it drops gorilla's
// writes, which are close frames from inside a read. Conn writes all bytes after the
// upgrade, so that no frame is interrupted and the reader never waits for a full
// socket.
type transport struct {
	net.Conn
	raw    syscall.RawConn // nil if Conn is not a socket
	sealed atomic.Bool

	start    time.Time
	lastRead atomic.Int64 // duration since start
	paused   atomic.Bool  // reading is paused, so silence does not count
	readErr  error        // the socket's error; guarded by writer.reading
}

func newTransport(nc net.Conn) *transport {
	return &transport{Conn: nc, raw: rawConn(nc), start: time.Now()}
}

// Read reads from the socket.
func (t *transport) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.noteRead(n, err)
	return n, err
}

// noteRead records the result of a read.
func (t *transport) noteRead(n int, err error) {
	if n > 0 {
		t.lastRead.Store(int64(time.Since(t.start)))
	}
	if err != nil {
		t.readErr = err
	}
}

// pauseReading pauses or resumes the measurement of silence.
func (t *transport) pauseReading(on bool) {
	if !on {
		t.lastRead.Store(int64(time.Since(t.start)))
	}
	t.paused.Store(on)
}

// silence returns for how long no byte has been received. It is 0 while reading is
// paused.
func (t *transport) silence() time.Duration {
	if t.paused.Load() {
		return 0
	}
	return time.Since(t.start) - time.Duration(t.lastRead.Load())
}

// Write writes to the socket, or drops b once t is sealed.
func (t *transport) Write(b []byte) (int, error) {
	if t.sealed.Load() {
		return len(b), nil
	}
	return t.Conn.Write(b)
}

// SetWriteDeadline sets the socket's deadline, unless t is sealed.
func (t *transport) SetWriteDeadline(at time.Time) error {
	if t.sealed.Load() {
		return nil
	}
	return t.Conn.SetWriteDeadline(at)
}

// closeWrite ends this side's direction. So the peer sees the end of the stream behind
// the close frame, and not a reset, which could destroy the frame.
func (t *transport) closeWrite() {
	if half, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
