package ws

import (
	"sync"
	"time"
)

// writer is the write side of a connection. It writes messages (write.go, try.go) and
// control frames (alive.go), and ends the connection (close.go), because the close
// frame is the last one that it writes. The reader uses it for pongs and to report a
// failed read.
type writer struct {
	nc     *transport
	opts   Options
	client bool // this side dialed, so its frames are masked

	// writing is a lock, held for whole frames. It is a channel, because it is held
	// during socket operations: a synctest bubble sees that a goroutine waits for a
	// channel, but not that it waits for a mutex.
	writing chan struct{}
	broken  bool          // a write failed inside a frame; guarded by writing
	reading chan struct{} // the reader's lock, a channel for the same reason; linger takes it too

	mu      sync.Mutex // guards the fields below; only SetDeadline is called under it
	cause   *CloseError
	control *control // nil unless a goroutine runs writeControl
	alive   *time.Timer

	wg sync.WaitGroup // finish, writeControl and completeTry
}

// control is the control frames that are queued.
type control struct {
	pong    []byte // the payload of the newest ping
	pongDue bool
	ping    []byte // the payload of the next ping
	pingDue bool
}
