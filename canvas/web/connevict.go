package web

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
)

// changed is the server's ConnState hook.
func (c *ConnLimiter) changed(conn net.Conn, state http.ConnState) {
	if state == http.StateHijacked || state == http.StateClosed {
		c.mu.Lock()
		defer c.mu.Unlock()
		if g := c.conns[conn]; g != nil {
			c.forget(g)
			c.pace.leave(g.young)
		}
	}
}

// admit runs in the accept loop, before anything is read. It returns nil for a
// connection that it rejected.
func (c *ConnLimiter) admit(conn net.Conn) *trackedConn {
	addr := remote.Addr(conn.RemoteAddr())
	g := &trackedConn{limiter: c, conn: conn, addr: remote.Network(addr), proxy: c.Proxies.Trusts(addr), quiet: time.Now()}
	if g.proxy {
		g.addr = netip.Prefix{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.makeRoom(g) {
		c.refused++
		reject(conn)
		return nil
	}
	c.conns[conn] = g
	c.enter(g)
	return g
}

// makeRoom closes a connection for a new one if that is needed. It returns false if none
// may be closed.
func (c *ConnLimiter) makeRoom(g *trackedConn) bool {
	var out *trackedConn
	switch {
	case g.addr.IsValid() && c.of(g.addr) >= c.perAddress():
		out = stale(g.quiet, c.strangers[g.addr])
	case len(c.conns) < c.max():
		return true
	default:
		if out = c.ofLargest(g.addr); out == nil {
			among := &c.unproven
			if its := c.strangers[g.addr]; its != nil && g.addr.IsValid() {
				among = its // an address with connections takes none from one with fewer
			}
			out = stale(g.quiet, among)
		}
		if out == nil {
			out = idle(g.quiet, &c.proven)
		}
	}
	if out == nil {
		return false
	}
	c.evict(out)
	return true
}

// ofLargest returns a connection of the address that has the most connections without a
// token, or nil if a new connection's own address would have as many.
func (c *ConnLimiter) ofLargest(own netip.Prefix) *trackedConn {
	if c.largest <= c.of(own)+1 {
		return nil
	}
	largest := c.bySize[c.largest-1].Front().Value.(*connQueues)
	return cmp.Or(first(&largest.idle), first(&largest.active))
}

// stale returns the connection that has been idle for the longest, or else the one with
// the oldest request; nil if none is old enough to be closed.
func stale(now time.Time, q *connQueues) *trackedConn {
	if g := idle(now, q); g != nil {
		return g
	}
	if g := first(&q.active); g != nil && now.Sub(g.quiet) >= cutAfter {
		return g
	}
	return nil
}

// idle returns the connection that has been idle for the longest, unless that is too short.
func idle(now time.Time, q *connQueues) *trackedConn {
	if g := first(&q.idle); g != nil && now.Sub(g.quiet) >= evictAfter {
		return g
	}
	return nil
}

func (c *ConnLimiter) evict(g *trackedConn) {
	c.forget(g)
	c.evicted++
	closeNow(g.conn)
}

// forget stops counting a connection.
func (c *ConnLimiter) forget(g *trackedConn) {
	delete(c.conns, g.conn)
	c.leave(g)
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
