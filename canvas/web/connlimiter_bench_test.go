package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

// place is a connection that can only be closed.
type place struct {
	net.Conn
	from net.Addr
}

func (p *place) RemoteAddr() net.Addr             { return p.from }
func (p *place) Close() error                     { return nil }
func (p *place) SetWriteDeadline(time.Time) error { return nil }
func (p *place) Write(b []byte) (int, error)      { return len(b), nil }

// BenchmarkEvict admits connections of new addresses at the limit: each evicts one or is
// refused. The time must not grow with the limit.
func BenchmarkEvict(b *testing.B) {
	for _, limit := range []int{1024, 16384} {
		b.Run(fmt.Sprint(limit), func(b *testing.B) {
			c := limiterWithTwoOf(limit)
			b.ResetTimer()
			for n := range b.N {
				c.admit(&place{from: addressOf(limit + n)})
			}
			if s := c.Stats(); s.Evicted+s.Refused == 0 {
				b.Fatalf("%+v", s)
			}
		})
	}
}

// limiterWithTwoOf returns a full limiter: half of its addresses have two connections.
func limiterWithTwoOf(limit int) *ConnLimiter {
	c := &ConnLimiter{Max: limit}
	c.conns, c.strangers = map[net.Conn]*trackedConn{}, map[netip.Prefix]*connQueues{}
	for n := range limit {
		c.admit(&place{from: addressOf(n / 3 * 2)})
	}
	return c
}

func addressOf(n int) net.Addr {
	return &net.TCPAddr{IP: net.IPv4(10, byte(n>>16), byte(n>>8), byte(n)), Port: 1}
}

// TestTheLargestIsKnown: the limiter knows the address with the most connections, as a
// look at all would find it.
func TestTheLargestIsKnown(t *testing.T) {
	c := &ConnLimiter{Max: 50}
	c.conns, c.strangers = map[net.Conn]*trackedConn{}, map[netip.Prefix]*connQueues{}
	var open []*trackedConn
	for n := range 3000 {
		if n%7 == 3 && len(open) > 0 {
			at := n * 31 % len(open)
			c.update(open[at], func() { open[at].requests = 1 - open[at].requests })
		}
		if n%5 == 4 && len(open) > 0 {
			at := n * 17 % len(open)
			c.changed(open[at].conn, http.StateClosed)
			open = append(open[:at], open[at+1:]...)
		}
		if g := c.admit(&place{from: addressOf(n * n % 11)}); g != nil {
			g.quiet = time.Now().Add(-time.Hour)
			open = append(open, g)
		}
		most := 0
		for _, its := range c.strangers {
			most = max(most, its.len())
		}
		if c.largest != most || most > 0 && c.bySize[most-1].Front().Value.(*connQueues).len() != most {
			t.Fatalf("after %d: the largest has %d, not %d", n, most, c.largest)
		}
	}
}
