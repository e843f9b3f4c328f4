package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultMaxConns is the default limit of a [ConnLimiter]: far above what pages and
// agents keep open, and far below a process's limit of open files.
const DefaultMaxConns = 1024

// evictAfter is how long a connection must be idle before a new one can replace it.
// A client sends its request sooner than that, even over a slow network.
const evictAfter = time.Second

// ConnLimiter limits the open connections of an http.Server: active ones, idle ones
// and those that have not sent a request yet. A connection that becomes a WebSocket
// is no longer counted: its client has shown a token, and its handler has a limit.
//
// At the limit, a new connection replaces the one that has been idle for the longest,
// if that was at least a second. A connection is idle without a request whose headers
// are complete, so a client that opens connections and sends nothing locks no other
// client out. If no connection is idle, the new one gets a 503 and is closed (over TLS
// it is closed without an answer); its request was not read, and can be sent again.
//
// A ConnLimiter is for one server. The zero value is ready to use.
type ConnLimiter struct {
	// Max is the limit; 0 means DefaultMaxConns.
	Max int

	mu               sync.Mutex
	conns            map[net.Conn]*trackedConn
	refused, evicted uint64
}

// trackedConn is an open connection of a ConnLimiter.
type trackedConn struct {
	requests int       // active requests
	quiet    time.Time // end of the last request, or the time of the accept
}

// ConnStats are the counts of a ConnLimiter.
type ConnStats struct {
	// Open is how many connections are open now.
	Open int
	// Max is the limit.
	Max int
	// Refused counts new connections that were refused because all others were active.
	Refused uint64
	// Evicted counts idle connections that were closed for a new one.
	Evicted uint64
}

// Stats returns the current counts. It is safe for concurrent use.
func (c *ConnLimiter) Stats() ConnStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ConnStats{Open: len(c.conns), Max: c.max(), Refused: c.refused, Evicted: c.evicted}
}

func (c *ConnLimiter) max() int { return cmp.Or(c.Max, DefaultMaxConns) }

// Watch limits the connections of srv, which must not serve yet. It wraps
// srv.Handler and sets srv.ConnState and srv.ConnContext.
func (c *ConnLimiter) Watch(srv *http.Server) {
	c.mu.Lock() // for a concurrent Stats
	c.conns = map[net.Conn]*trackedConn{}
	c.mu.Unlock()
	srv.Handler = c.countRequests(srv.Handler)
	srv.ConnState = c.changed
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c.admit(conn))
	}
}

type connKey struct{}

// countRequests wraps a handler to track which connections have an active request.
func (c *ConnLimiter) countRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g, _ := r.Context().Value(connKey{}).(*trackedConn); g != nil {
			c.count(g, 1)
			defer c.count(g, -1)
		}
		next.ServeHTTP(w, r)
	})
}

func (c *ConnLimiter) count(g *trackedConn, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.requests += by
	g.quiet = time.Now()
}

// changed is the server's ConnState hook.
func (c *ConnLimiter) changed(conn net.Conn, state http.ConnState) {
	if state == http.StateHijacked || state == http.StateClosed {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.conns, conn)
	}
}

// admit runs in the accept loop, before anything is read. It returns nil for a
// connection that it rejected.
func (c *ConnLimiter) admit(conn net.Conn) *trackedConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.conns) >= c.max() && !c.evict(now) {
		c.refused++
		reject(conn)
		return nil
	}
	g := &trackedConn{quiet: now}
	c.conns[conn] = g
	return g
}

// evict closes the connection that has been idle for the longest, if any is idle.
func (c *ConnLimiter) evict(now time.Time) bool {
	var oldest net.Conn
	since := now.Add(-evictAfter)
	for conn, g := range c.conns {
		if g.requests == 0 && !g.quiet.After(since) {
			oldest, since = conn, g.quiet
		}
	}
	if oldest == nil {
		return false
	}
	delete(c.conns, oldest)
	c.evicted++
	closeNow(oldest)
	return true
}

// reject answers 503 before reading the request. The write does not block: it is the
// connection's first, so the socket's buffer is empty.
func reject(conn net.Conn) {
	if _, secret := conn.(tlsConn); !secret {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(tooMany)
	}
	closeNow(conn)
}

// tlsConn is implemented by *tls.Conn.
type tlsConn interface{ NetConn() net.Conn }

// closeNow closes a connection without TLS's close alert, whose write could block
// on a client that reads nothing.
func closeNow(conn net.Conn) {
	if t, ok := conn.(tlsConn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}

// tooMany is the response to a rejected connection.
var tooMany = func() []byte {
	const words = "too many connections: try again in a few seconds\n"
	headers := addresses{}.headers(outerFile)
	headers["Content-Type"] = "text/plain; charset=utf-8"
	headers["Content-Length"] = fmt.Sprint(len(words))
	headers["Retry-After"] = "5"
	headers["Connection"] = "close"
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 503 Service Unavailable\r\n")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		b.WriteString(name + ": " + strings.TrimSpace(headers[name]) + "\r\n")
	}
	b.WriteString("\r\n" + words)
	return b.Bytes()
}()
