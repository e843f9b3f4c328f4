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

// DefaultMaxHTTP is how many connections a [Crowd] has by default. It is far above
// what pages and agents keep open, and far below what a process may open.
const DefaultMaxHTTP = 1024

// crowdPatience is how long a connection may be quiet where somebody else waits
// for its place. Who means it sends its request sooner, on a slow line too.
const crowdPatience = time.Second

// Crowd bounds how many connections an http.Server has at a time: those on which
// a request is under way, those that are kept for the next one, and those that
// have not sent any yet and may never. One that becomes a WebSocket counts no more:
// it has shown a token, and who took it bounds it.
//
// Where there are as many as there may be, the one that has been quiet for the
// longest makes room for the new one, if that was a second or more; quiet is without
// a request of which all headers came. So a stranger who opens connections and says
// nothing keeps nobody out. Where none is quiet, the new one is told 503 and closed
// (over TLS it is just closed): its request was not read, and may be sent again.
//
// A Crowd is for one server. The zero value is ready.
type Crowd struct {
	Max int // DefaultMaxHTTP where it is 0

	mu             sync.Mutex
	guests         map[net.Conn]*guest
	refused, ended uint64
}

// guest is a connection of a Crowd.
type guest struct {
	requests int       // under way
	quiet    time.Time // since when there is none
}

// CrowdStats are the numbers of a Crowd since it was made.
type CrowdStats struct {
	Open, Max int
	Refused   uint64 // new ones, because all others were busy
	Ended     uint64 // quiet ones, to make room
}

// Stats returns the numbers; it may be called at any time.
func (c *Crowd) Stats() CrowdStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CrowdStats{Open: len(c.guests), Max: c.max(), Refused: c.refused, Ended: c.ended}
}

func (c *Crowd) max() int { return cmp.Or(c.Max, DefaultMaxHTTP) }

// Watch bounds the connections of a server that does not serve yet. It puts itself
// before the server's Handler, and takes its ConnState and ConnContext.
func (c *Crowd) Watch(srv *http.Server) {
	c.mu.Lock() // Stats may be asked meanwhile
	c.guests = map[net.Conn]*guest{}
	c.mu.Unlock()
	srv.Handler = c.counted(srv.Handler)
	srv.ConnState = c.changed
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, guestKey{}, c.admit(conn))
	}
}

type guestKey struct{}

// counted knows which connections have a request under way.
func (c *Crowd) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g, _ := r.Context().Value(guestKey{}).(*guest); g != nil {
			c.count(g, 1)
			defer c.count(g, -1)
		}
		next.ServeHTTP(w, r)
	})
}

func (c *Crowd) count(g *guest, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.requests += by
	g.quiet = time.Now()
}

// changed is the server's word on a connection.
func (c *Crowd) changed(conn net.Conn, state http.ConnState) {
	if state == http.StateHijacked || state == http.StateClosed {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.guests, conn)
	}
}

// admit is called by the goroutine that accepts, before anything is read. It
// returns nil for a connection that was turned away.
func (c *Crowd) admit(conn net.Conn) *guest {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.guests) >= c.max() && !c.makeRoom(now) {
		c.refused++
		turnAway(conn)
		return nil
	}
	g := &guest{quiet: now}
	c.guests[conn] = g
	return g
}

// makeRoom ends the connection that has been quiet for the longest.
func (c *Crowd) makeRoom(now time.Time) bool {
	var oldest net.Conn
	since := now.Add(-crowdPatience)
	for conn, g := range c.guests {
		if g.requests == 0 && !g.quiet.After(since) {
			oldest, since = conn, g.quiet
		}
	}
	if oldest == nil {
		return false
	}
	delete(c.guests, oldest)
	c.ended++
	hangUp(oldest)
	return true
}

// turnAway answers before anything was read. That cannot wait: nothing was written
// to the connection yet, so the answer has room in its buffer.
func turnAway(conn net.Conn) {
	if _, secret := conn.(tlsConn); !secret {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(crowded)
	}
	hangUp(conn)
}

// tlsConn is what *tls.Conn has.
type tlsConn interface{ NetConn() net.Conn }

// hangUp closes a connection without the word that TLS has for it, which could
// wait for a client that reads nothing.
func hangUp(conn net.Conn) {
	if t, ok := conn.(tlsConn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}

// crowded is the answer to a connection that is too many.
var crowded = func() []byte {
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
