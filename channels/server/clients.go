package server

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Presence is notified when clients leave channels. Its methods are called without
// any lock and must not block.
type Presence interface {
	// ClientLeft is called when a client has unsubscribed its last connection from a
	// channel.
	ClientLeft(clientID, uri string)
	// ClientGone is called when a client has left every channel for which keep returns
	// false. Either its grace period is over (then keep always returns false), or it
	// reconnected without listing them.
	ClientGone(clientID string, keep func(uri string) bool)
}

// Connectivity is notified whether clients can be reached. Its methods are called
// one at a time, without any other lock, and must not block. A call might repeat what
// the last one reported.
type Connectivity interface {
	// ClientLost is called when the last connection of a client has ended.
	ClientLost(clientID string)
	// ClientBack is called when the answer to the handshake of a connection is queued,
	// and when a connection has ended and an older one replaces it, which might have
	// declared other capabilities.
	ClientBack(clientID string)
}

// client is the state of a client id.
type client struct {
	id string
	// token identifies the token that may use the id, and secret proves to be the same
	// client. A client from before a restart has no secret, and no token if that is not
	// known.
	token, secret string
	// version and caps are what a reconnect resumes: those of the newest connection,
	// or of the one that ended last. A client from before a restart has no version.
	version ahp.Version
	caps    ahp.Capabilities
	dialect Dialect // nil for the server's own version
	conns   []*conn // open, oldest first
	// ended reports that the connection of version and caps has ended; bookmark has its
	// subscriptions. Older connections might still be open.
	ended    bool
	bookmark channels.Bookmark
	counted  int64 // bytes of the bookmark in the budget

	// All nil while a connection is open.
	absent *list.Element // in clients.absent
	grace  *time.Timer
	forget *time.Timer
}

// clients is the table of known clients. The log and peers are never called under
// its mutex.
type clients struct {
	grace    time.Duration
	remember time.Duration
	limit    int
	onGone   func(clientID string)
	memory   *budget.Ledger

	mu     sync.Mutex
	known  map[string]*client
	absent *list.List // of *client, longest absent first
	closed bool
	ends   chan struct{} // closed when a connection ends; nil if no handshake waits
}

// joined records a new connection, and stops the timers of its client.
func (t *clients) joined(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(c)
}

// add is joined under the mutex.
func (t *clients) add(c *conn) {
	cl := t.known[c.sub.ClientID]
	if cl == nil {
		cl = &client{id: c.sub.ClientID}
		t.known[cl.id] = cl
	}
	t.present(cl)
	cl.version, cl.caps, cl.dialect, cl.ended = c.sub.Version, c.sub.Caps, c.dialect(), false
	t.mark(cl, nil)
	cl.conns = append(cl.conns, c)
}

// expect adds a client from before a restart, and begins its grace period. The
// client cannot reconnect, because its version and subscriptions are unknown.
func (t *clients) expect(id, token string, caps ahp.Capabilities) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[id] == nil && !t.closed {
		cl := &client{id: id, token: token, caps: caps}
		t.known[id] = cl
		t.leave(cl)
	}
}

// left records that a connection has ended. If it was the client's last, the grace
// period begins. It reports whether there is none, because the token has ended: the
// client is gone now.
func (t *clients) left(c *conn, mark channels.Bookmark) (gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cl := t.known[c.sub.ClientID]
	if cl == nil {
		return false
	}
	newest := slices.Index(cl.conns, c) == len(cl.conns)-1
	cl.conns = slices.DeleteFunc(cl.conns, func(o *conn) bool { return o == c })
	if t.ends != nil {
		close(t.ends)
		t.ends = nil
	}
	if newest && !cl.ended || len(cl.conns) == 0 && !c.replaced {
		cl.version, cl.caps, cl.dialect, cl.ended = c.sub.Version, c.sub.Caps, c.dialect(), true
		t.mark(cl, mark)
	}
	switch {
	case len(cl.conns) > 0 || t.closed:
		return false
	case c.tokenEnded.Load():
		delete(t.known, cl.id)
		t.mark(cl, nil)
		return true
	}
	t.leave(cl)
	return false
}

// endToken forgets the absent clients of a token and returns their ids. They are gone,
// whatever is left of their grace periods.
func (t *clients) endToken(token string) (gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, cl := range t.known {
		if cl.token == token && cl.absent != nil {
			cl.grace.Stop()
			t.forgetClient(cl)
			gone = append(gone, id)
		}
	}
	return gone
}

// leave starts the timers of a client without a connection.
func (t *clients) leave(cl *client) {
	cl.absent = t.absent.PushBack(cl)
	cl.grace = time.AfterFunc(t.grace, func() { t.graceOver(cl) })
	cl.forget = time.AfterFunc(t.remember, func() { t.drop(cl) })
	for t.absent.Len() > t.limit || t.absent.Len() > 1 && !t.memory.Fits(budget.Clients, 0) {
		// The grace timer still runs: the client leaves its channels when it fires.
		t.forgetClient(t.absent.Front().Value.(*client))
	}
}

// newest returns the newest connection of a client whose handshake is answered and
// from which it has not moved away, or nil.
func (t *clients) newest(id string) *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cl := t.known[id]; cl != nil {
		for _, c := range slices.Backward(cl.conns) {
			if c.answered.Load() && !c.moving.left.Load() {
				return c
			}
		}
	}
	return nil
}

// capabilities returns the capabilities of a client's newest connection, or, if it
// has none, those that a reconnect would resume.
func (t *clients) capabilities(id string) ahp.Capabilities {
	t.mu.Lock()
	defer t.mu.Unlock()
	cl := t.known[id]
	switch {
	case cl == nil:
		return nil
	case len(cl.conns) > 0:
		return cl.conns[len(cl.conns)-1].sub.Caps
	}
	return cl.caps
}

func (t *clients) tokenOf(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cl := t.known[id]; cl != nil {
		return cl.token
	}
	return ""
}

func (t *clients) graceOver(cl *client) {
	t.mu.Lock()
	current := t.known[cl.id]
	gone := !t.closed && (current == nil || current == cl && cl.absent != nil)
	t.mu.Unlock()
	if gone {
		t.onGone(cl.id)
	}
}

func (t *clients) drop(cl *client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cl.absent != nil {
		t.forgetClient(cl)
	}
}

func (t *clients) forgetClient(cl *client) {
	t.absent.Remove(cl.absent)
	cl.absent = nil
	cl.forget.Stop()
	delete(t.known, cl.id)
	t.mark(cl, nil) // the grace timer still refers to the client
}

// mark sets the bookmark of a client, and counts it.
func (t *clients) mark(cl *client, mark channels.Bookmark) {
	size := int64(0)
	if mark != nil {
		size = int64(len(cl.id) + 512 + len(mark)*perBookmark)
	}
	t.memory.Add(budget.Clients, size-cl.counted)
	cl.bookmark, cl.counted = mark, size
}

// perBookmark is about what a channel in a bookmark takes, in bytes.
const perBookmark = 80

// present stops the timers of a client.
func (t *clients) present(cl *client) {
	if cl.absent != nil {
		t.absent.Remove(cl.absent)
		cl.absent = nil
		cl.grace.Stop()
		cl.forget.Stop()
	}
}

// recall returns a copy of a client's state, for a reconnect.
func (t *clients) recall(id string) (known client, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cl := t.known[id]
	if cl == nil {
		return client{}, false
	}
	known = *cl
	known.conns = slices.Clone(cl.conns)
	return known, true
}

// close stops all timers. Connections that end later start none.
func (t *clients) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, cl := range t.known {
		t.present(cl)
	}
}
