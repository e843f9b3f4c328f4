package server

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Presence hears of clients that come and go, as far as their channels are
// concerned. The calls come without any lock held and must not wait.
type Presence interface {
	// ClientLeft says that no connection of the client is subscribed to the
	// channel any more, because it unsubscribed.
	ClientLeft(clientID, uri string)
	// ClientGone says that the client left every channel for which keep is
	// false: its grace is over (keep is always false), or it reconnected
	// without them.
	ClientGone(clientID string, keep func(uri string) bool)
}

// Connectivity hears whether a client can be reached: not any more, when its last
// connection ended; again, when the answer to the handshake of a new one is
// queued, or when one ended and another counts now, whose capabilities may be others.
// The calls come one at a time, without any other lock held, and must not wait; one may
// tell again what is known.
type Connectivity interface {
	ClientLost(clientID string)
	ClientBack(clientID string)
}

// client is what is known of a client id.
type client struct {
	id string
	// version and caps are what a reconnect resumes: what was said last, or by the
	// connection that ended last. No version is one of before a restart.
	version ahp.Version
	caps    ahp.Capabilities
	conns   []*conn // live, oldest first
	// ended says that the connection that version and caps are of is over; bookmark
	// is what it was subscribed to. Older ones may live.
	ended    bool
	bookmark channels.Bookmark

	// All nil while there is a connection.
	absent *list.Element // in clients.absent
	grace  *time.Timer
	forget *time.Timer
}

// clients is the table of known clients. Its mutex is never held while the log
// or a peer is called.
type clients struct {
	grace    time.Duration
	remember time.Duration
	limit    int
	onGone   func(clientID string)

	mu     sync.Mutex
	known  map[string]*client
	absent *list.List // of *client, longest absent first
	closed bool
}

// joined records a connection that opened, and stops the timers of its client.
func (t *clients) joined(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cl := t.known[c.sub.ClientID]
	if cl == nil {
		cl = &client{id: c.sub.ClientID}
		t.known[cl.id] = cl
	}
	t.present(cl)
	cl.version, cl.caps, cl.ended = c.sub.Version, c.sub.Caps, false
	cl.conns = append(cl.conns, c)
}

// expect lists a client of an earlier life of the host: its grace begins. Nobody
// can reconnect from that, for neither version nor subscriptions are known.
func (t *clients) expect(id string, caps ahp.Capabilities) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[id] == nil && !t.closed {
		cl := &client{id: id, caps: caps}
		t.known[id] = cl
		t.leave(cl)
	}
}

// left records that a connection ended. If it was the client's last, the grace
// begins.
func (t *clients) left(c *conn, mark channels.Bookmark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cl := t.known[c.sub.ClientID]
	if cl == nil {
		return
	}
	newest := slices.Index(cl.conns, c) == len(cl.conns)-1
	cl.conns = slices.DeleteFunc(cl.conns, func(o *conn) bool { return o == c })
	if newest && !cl.ended || len(cl.conns) == 0 {
		cl.version, cl.caps, cl.ended, cl.bookmark = c.sub.Version, c.sub.Caps, true, mark
	}
	if len(cl.conns) == 0 && !t.closed {
		t.leave(cl)
	}
}

// leave starts the timers of a client that has no connection.
func (t *clients) leave(cl *client) {
	cl.absent = t.absent.PushBack(cl)
	cl.grace = time.AfterFunc(t.grace, func() { t.graceOver(cl) })
	cl.forget = time.AfterFunc(t.remember, func() { t.drop(cl) })
	if t.absent.Len() > t.limit {
		// Its grace still runs out: its entries leave as they would have.
		t.forgetClient(t.absent.Front().Value.(*client))
	}
}

// newest returns the connection of a client that counts, the newest of those
// whose handshake is answered, or nil.
func (t *clients) newest(id string) *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cl := t.known[id]; cl != nil {
		for _, c := range slices.Backward(cl.conns) {
			if c.answered.Load() {
				return c
			}
		}
	}
	return nil
}

// capabilities is what counts of what a client declared: that of its newest
// connection, or without one what a reconnect would resume.
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
}

// present stops the timers of a client that is back.
func (t *clients) present(cl *client) {
	if cl.absent != nil {
		t.absent.Remove(cl.absent)
		cl.absent = nil
		cl.grace.Stop()
		cl.forget.Stop()
	}
}

// recall returns what reconnect needs to know of a client: its version,
// capabilities and last subscriptions.
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

// close stops all timers; connections that end later start none.
func (t *clients) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, cl := range t.known {
		t.present(cl)
	}
}
