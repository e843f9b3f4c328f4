package web

import (
	"bytes"
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
	c.strangers[g.addr]++
	return g
}

// makeRoom closes a connection for a new one if that is needed. It returns false if none
// may be closed.
func (c *ConnLimiter) makeRoom(g *trackedConn) bool {
	var out *trackedConn
	switch {
	case g.addr.IsValid() && c.strangers[g.addr] >= c.perAddress():
		out = c.stale(g.quiet, func(o *trackedConn) bool { return !o.proven && o.addr == g.addr })
	case len(c.conns) < c.max():
		return true
	default:
		if out = c.ofLargest(g.addr); out == nil {
			out = c.stale(g.quiet, func(o *trackedConn) bool { return !o.proven })
		}
		if out == nil {
			out = c.idle(g.quiet, func(*trackedConn) bool { return true })
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
	var largest netip.Prefix
	most := c.strangers[own] + 1
	for addr, n := range c.strangers {
		if addr.IsValid() && n > most {
			largest, most = addr, n
		}
	}
	if !largest.IsValid() {
		return nil
	}
	its := func(o *trackedConn) bool { return !o.proven && o.addr == largest }
	if idle := c.oldest(func(o *trackedConn) bool { return its(o) && o.requests == 0 }); idle != nil {
		return idle
	}
	return c.oldest(its)
}

// stale returns the connection that has been idle for the longest among those that match,
// or else the one with the oldest request; nil if none is old enough to be closed.
func (c *ConnLimiter) stale(now time.Time, match func(*trackedConn) bool) *trackedConn {
	if idle := c.idle(now, match); idle != nil {
		return idle
	}
	return c.oldest(func(o *trackedConn) bool { return match(o) && now.Sub(o.quiet) >= cutAfter })
}

func (c *ConnLimiter) idle(now time.Time, match func(*trackedConn) bool) *trackedConn {
	return c.oldest(func(o *trackedConn) bool {
		return match(o) && o.requests == 0 && now.Sub(o.quiet) >= evictAfter
	})
}

// oldest returns the connection that changed least recently among those that match.
func (c *ConnLimiter) oldest(match func(*trackedConn) bool) *trackedConn {
	var found *trackedConn
	for _, o := range c.conns {
		if match(o) && (found == nil || o.quiet.Before(found.quiet)) {
			found = o
		}
	}
	return found
}

func (c *ConnLimiter) evict(g *trackedConn) {
	c.forget(g)
	c.evicted++
	closeNow(g.conn)
}

// forget stops counting a connection.
func (c *ConnLimiter) forget(g *trackedConn) {
	delete(c.conns, g.conn)
	if g.proven {
		c.proven--
	} else {
		c.uncount(g)
	}
}

// uncount stops counting a connection for its address.
func (c *ConnLimiter) uncount(g *trackedConn) {
	if c.strangers[g.addr]--; c.strangers[g.addr] <= 0 {
		delete(c.strangers, g.addr)
	}
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
