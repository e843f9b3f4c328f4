package server

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// movedFor is how long a connection is kept that its client moved away from.
const movedFor = time.Minute

// moving is a client's move from this connection to another one (ahp/PROTOCOL.md section 2h).
type moving struct {
	// answer tells the relay whether the client moves; nil if no relay wants to know.
	answer atomic.Pointer[func(moves bool)]

	left atomic.Bool // the client has another connection, which calls use from now on

	mu    sync.Mutex
	calls int         // requests of the host on this connection
	done  bool        // the client sends nothing more here
	late  *time.Timer // ends the connection; nil before left
}

// drained asks the client to move, once its handshake is answered, if it can.
func (c *conn) drained(answer func(moves bool)) {
	c.moving.answer.Store(&answer)
	if c.answered.Load() {
		c.askToMove()
	}
}

// askToMove sends the notification, at most once for each call of drained.
func (c *conn) askToMove() {
	answer := c.moving.answer.Swap(nil)
	if answer == nil {
		return
	}
	moves := c.sub.Caps.Has(ahp.CapabilityMove) && c.spoken == nil
	if moves {
		_ = c.peer.Notify(ahp.MethodMove, ahp.ChannelParams{Channel: ahp.RootURI}) // encoding it cannot fail
	}
	(*answer)(moves)
}

// leave begins the end of a connection whose client has another one. It is kept until nothing
// on it waits for an answer. Its channels are the other one's: what it still has to publish is
// queued.
func (c *conn) leave() {
	c.moving.mu.Lock()
	defer c.moving.mu.Unlock()
	_ = c.peer.Notify(ahp.Moved.Name, ahp.ChannelParams{Channel: ahp.RootURI}) // encoding it cannot fail
	c.moving.left.Store(true)
	c.moving.late = time.AfterFunc(movedFor, c.closeMoved)
}

func (c *conn) closeMoved() {
	c.peer.Close(ws.CodeReplaced, "the client moved to another connection")
}

// pinged is called after each answer to a ping. On a connection that its client moved away
// from, a ping says that the client sends nothing more.
func (c *conn) pinged() {
	if c.moving.left.Load() {
		c.moving.note(c, func(m *moving) { m.done = true })
	}
}

// beginCall counts a request of the host, unless the client has left.
func (c *conn) beginCall() bool {
	c.moving.mu.Lock()
	defer c.moving.mu.Unlock()
	if c.moving.left.Load() {
		return false
	}
	c.moving.calls++
	return true
}

func (c *conn) endCall() { c.moving.note(c, func(m *moving) { m.calls-- }) }

// note closes the connection if nothing on it waits for an answer after a change.
func (m *moving) note(c *conn, change func(*moving)) {
	m.mu.Lock()
	change(m)
	over := m.left.Load() && m.done && m.calls == 0 && c.waiting.idle() && m.late.Stop()
	m.mu.Unlock()
	if over {
		c.closeMoved() // without the lock: it can wait for the log's
	}
}
