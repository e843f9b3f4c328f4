package web

import (
	"cmp"
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
)

// DefaultMaxConns is the default limit of a [ConnLimiter]: far above what pages and
// agents keep open, and far below a process's limit of open files.
const DefaultMaxConns = 1024

const (
	// evictAfter is how long a connection must be idle before a new one of the same
	// address can replace it. A client sends its request sooner than that.
	evictAfter = 100 * time.Millisecond
	// cutAfter is how long a request without a token is safe from being cut for a new
	// connection. Files of the page are sent sooner.
	cutAfter = 2 * time.Second
)

// ConnLimiter limits the open connections of an http.Server. A connection that becomes a
// WebSocket is no longer counted: its client has shown a token, and its handler has a
// limit.
//
// At the limit, clients that have shown no token ([Proven]) give way:
//
//   - A new connection replaces one of the address that has the most of them, so an address
//     that opens many connections shuts out only itself. An IPv6 address counts as its /64
//     network, and one address has at most half of the limit.
//   - If no address has more than the new one, it replaces the connection without a token
//     that has been idle for the longest, if that was at least 100 ms, or else one whose
//     request has been active for 2 s, or else an idle one with a token. An address that
//     has connections already replaces only its own of those without a token.
//   - If there is none, the new one gets a 503 and is closed (over TLS it is closed without
//     an answer); its request was not read, and can be sent again.
//
// A request that is refused waits for about a second, and its connection is the first to give
// way ([Refused]). Otherwise one that has shown a token is never cut in a request. Such have
// at most three quarters of the limit, so the page can be reached however many agents wait
// for events.
//
// A ConnLimiter is for one server. The zero value is ready to use.
type ConnLimiter struct {
	// Max is the limit; 0 means DefaultMaxConns.
	Max int
	// Proxies are trusted: a request over a connection of theirs counts for the address in
	// X-Forwarded-For.
	Proxies remote.Proxies

	pace pace

	mu               sync.Mutex
	conns            map[net.Conn]*trackedConn
	strangers        map[netip.Prefix]*connQueues // connections without a token, by address
	bySize           []*list.List                 // the known addresses of strangers: those with n connections at n-1
	largest          int                          // the most connections that one of them has
	unproven, proven connQueues                   // all of them, and those with a token
	refused, evicted uint64
}

// connQueues are connections in the order of trackedConn.quiet, the longest first.
type connQueues struct {
	idle, active list.List

	size *list.List // its place in ConnLimiter.bySize; nil if it has none
	at   *list.Element
}

func (q *connQueues) len() int { return q.idle.Len() + q.active.Len() }

// of returns the queue of a connection.
func (q *connQueues) of(g *trackedConn) *list.List {
	if g.requests > 0 && !g.refused {
		return &q.active
	}
	return &q.idle
}

// first returns the first connection of a queue, or nil.
func first(q *list.List) *trackedConn {
	if e := q.Front(); e != nil {
		return e.Value.(*trackedConn)
	}
	return nil
}

// trackedConn is an open connection of a ConnLimiter.
type trackedConn struct {
	limiter  *ConnLimiter
	young    *youngConn
	conn     net.Conn
	addr     netip.Prefix // whose it is; zero if that is unknown
	proxy    bool         // it is a trusted proxy's, for many clients
	proven   bool         // a token was shown
	refused  bool         // its request waits for a refusal, so it is the first to give way
	requests int          // active requests
	quiet    time.Time    // when its requests last began or ended, or the time of the accept

	// Its places: among those of its address, and among the unproven or proven ones.
	queue, all     *list.List
	inQueue, inAll *list.Element
}

// enter puts a connection at the end of its queues, or a refused one at their front.
func (c *ConnLimiter) enter(g *trackedConn) {
	if g.proven {
		g.all = c.proven.of(g)
	} else {
		g.all = c.unproven.of(g)
		its := c.strangers[g.addr]
		if its == nil {
			its = &connQueues{}
			c.strangers[g.addr] = its
		}
		g.queue = its.of(g)
		g.inQueue = put(g.queue, g)
		c.resize(g.addr, its)
	}
	g.inAll = put(g.all, g)
}

func put(q *list.List, g *trackedConn) *list.Element {
	if g.refused {
		return q.PushFront(g)
	}
	return q.PushBack(g)
}

// leave takes a connection out of its queues.
func (c *ConnLimiter) leave(g *trackedConn) {
	g.all.Remove(g.inAll)
	if g.queue == nil {
		return
	}
	g.queue.Remove(g.inQueue)
	g.queue = nil
	its := c.strangers[g.addr]
	c.resize(g.addr, its)
	if its.len() == 0 {
		delete(c.strangers, g.addr)
	}
}

// resize puts an address among those with as many connections, after its number has changed
// by one. So the address with the most is found without a look at the others.
func (c *ConnLimiter) resize(addr netip.Prefix, its *connQueues) {
	if !addr.IsValid() {
		return
	}
	if its.size != nil {
		its.size.Remove(its.at)
		its.size, its.at = nil, nil
	}
	if n := its.len(); n > 0 {
		if n > len(c.bySize) {
			c.bySize = append(c.bySize, list.New())
		}
		its.size = c.bySize[n-1]
		its.at = its.size.PushBack(its)
		c.largest = max(c.largest, n)
	}
	for c.largest > 0 && c.bySize[c.largest-1].Len() == 0 {
		c.largest--
	}
}

// update changes a connection that counts, and puts it at the end of its queues.
func (c *ConnLimiter) update(g *trackedConn, change func()) {
	if c.conns[g.conn] != g {
		change()
		return
	}
	c.leave(g)
	change()
	c.enter(g)
}

// of returns how many connections without a token an address has.
func (c *ConnLimiter) of(addr netip.Prefix) int {
	if its := c.strangers[addr]; its != nil {
		return its.len()
	}
	return 0
}

// ConnStats are the counts of a ConnLimiter.
type ConnStats struct {
	// Open is how many connections are open now.
	Open int
	// Max is the limit.
	Max int
	// Refused counts connections and requests that were refused at a limit.
	Refused uint64
	// Evicted counts connections that were closed for a new one.
	Evicted uint64
}

// Stats returns the current counts. It is safe for concurrent use.
func (c *ConnLimiter) Stats() ConnStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ConnStats{Open: len(c.conns), Max: c.max(), Refused: c.refused, Evicted: c.evicted}
}

func (c *ConnLimiter) max() int { return cmp.Or(c.Max, DefaultMaxConns) }

// perAddress is how many connections without a token an address can have: half of the
// limit, or all of a small one.
func (c *ConnLimiter) perAddress() int { return max(c.max()/2, min(c.max(), smallLimit)) }

const smallLimit = 64

// Watch limits the connections of srv, which must not serve yet. It wraps
// srv.Handler and sets srv.ConnState and srv.ConnContext.
func (c *ConnLimiter) Watch(srv *http.Server) {
	c.mu.Lock() // for a concurrent Stats
	c.conns, c.strangers = map[net.Conn]*trackedConn{}, map[netip.Prefix]*connQueues{}
	c.bySize, c.largest = nil, 0
	c.mu.Unlock()
	srv.Handler = c.countRequests(srv.Handler)
	srv.ConnState = c.changed
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		young := c.pace.enter()
		g := c.admit(conn)
		if g == nil {
			c.pace.leave(young)
			return ctx
		}
		g.young = young
		return context.WithValue(ctx, connKey{}, g)
	}
}

type connKey struct{}

// Proven records that a request had a valid token, and reports whether the server has
// capacity for another connection with one. If not, the caller must answer with
// [TooMany]. It is true for a server without a ConnLimiter.
func Proven(r *http.Request) bool {
	g, _ := r.Context().Value(connKey{}).(*trackedConn)
	return g == nil || g.limiter.prove(g)
}

func (c *ConnLimiter) prove(g *trackedConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g.proven || c.conns[g.conn] != g {
		return true // a connection that was evicted gets no answer anyway
	}
	if c.proven.len() >= max(c.max()*3/4, 1) {
		idle := first(&c.proven.idle)
		if idle == nil {
			c.refused++
			return false
		}
		c.evict(idle)
	}
	c.update(g, func() { g.proven = true })
	return true
}

// countRequests wraps a handler to track which connections have an active request. It
// refuses requests of an address that has too many through a proxy.
func (c *ConnLimiter) countRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g, _ := r.Context().Value(connKey{}).(*trackedConn); g != nil {
			if !c.begin(g, r) {
				TooMany(w, r)
				return
			}
			defer c.pace.leave(g.young)
			defer c.end(g)
		}
		next.ServeHTTP(w, r)
	})
}

// begin counts a request. A proxy's connection belongs to the client of its first active
// request.
func (c *ConnLimiter) begin(g *trackedConn, r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g.proxy && g.requests == 0 && !g.proven {
		client := c.Proxies.Client(r)
		if c.of(client) >= c.perAddress() {
			c.refused++
			return false
		}
		c.update(g, func() { g.addr = client })
	}
	c.update(g, func() {
		g.requests++
		g.quiet = time.Now()
	})
	return true
}

func (c *ConnLimiter) end(g *trackedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update(g, func() {
		g.requests--
		g.refused = false
		g.quiet = time.Now()
		if g.proxy && g.requests == 0 { // the next request can be another client's
			g.proven, g.addr = false, netip.Prefix{}
		}
	})
}
