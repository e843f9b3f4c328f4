package ws

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// transport stands between gorilla and the socket. Once it is sealed, what
// gorilla writes (close frames of its own, from inside a read) goes nowhere:
// every byte after the upgrade is written by the frame writer of [Conn], so
// that no frame is cut in two and the reader never waits for a full socket.
type transport struct {
	net.Conn
	raw    syscall.RawConn // nil where the socket is not right below
	sealed atomic.Bool

	start    time.Time
	lastRead atomic.Int64 // since start, monotonic
	held     atomic.Bool  // nobody reads now, so that silence is not the peer's
	readErr  error        // of the socket; guarded by Conn.reading
}

func newTransport(nc net.Conn) *transport {
	return &transport{Conn: nc, raw: rawConn(nc), start: time.Now()}
}

func (t *transport) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.heard(n, err)
	return n, err
}

// heard notes what a read of the socket returned.
func (t *transport) heard(n int, err error) {
	if n > 0 {
		t.lastRead.Store(int64(time.Since(t.start)))
	}
	if err != nil {
		t.readErr = err
	}
}

// hold says that reading stops for a while, or goes on.
func (t *transport) hold(on bool) {
	if !on {
		t.lastRead.Store(int64(time.Since(t.start)))
	}
	t.held.Store(on)
}

// silence returns for how long no byte was read, though there was a reader.
func (t *transport) silence() time.Duration {
	if t.held.Load() {
		return 0
	}
	return time.Since(t.start) - time.Duration(t.lastRead.Load())
}

func (t *transport) Write(b []byte) (int, error) {
	if t.sealed.Load() {
		return len(b), nil
	}
	return t.Conn.Write(b)
}

func (t *transport) SetWriteDeadline(at time.Time) error {
	if t.sealed.Load() {
		return nil
	}
	return t.Conn.SetWriteDeadline(at)
}

// closeWrite ends our direction, so that the peer sees the end of the stream
// behind the close frame and not a reset that could destroy it.
func (t *transport) closeWrite() {
	if half, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
