package web

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// addressedConn is a connection from an address, which records that it was closed.
type addressedConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *addressedConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1}
}
func (c *addressedConn) Close() error                     { c.closed = true; return nil }
func (c *addressedConn) Write(b []byte) (int, error)      { return len(b), nil }
func (c *addressedConn) SetWriteDeadline(time.Time) error { return nil }

// TestSlowPeopleKeepTheirConnection: an address whose requests are all active does not take
// the connection of a person who has not sent a request for longer than 100 ms, for example
// because the machine is busy.
func TestSlowPeopleKeepTheirConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &ConnLimiter{Max: 40}
		c.Watch(&http.Server{Handler: http.NotFoundHandler()})
		admit := func(from string) (*addressedConn, *trackedConn) {
			conn := &addressedConn{from: from}
			return conn, c.admit(conn)
		}
		flood := func() bool {
			_, g := admit("127.0.0.2")
			if g != nil {
				c.begin(g, httptest.NewRequest(http.MethodGet, "/stall", nil))
			}
			return g != nil
		}
		for range 40 {
			flood()
		}
		var people []*addressedConn
		for i := range 25 {
			conn, g := admit(fmt.Sprintf("127.0.1.%d", i+1))
			if g == nil {
				t.Fatalf("person %d was refused", i+1)
			}
			people = append(people, conn)
			time.Sleep(2 * evictAfter)
			flood()
		}
		for i, conn := range people {
			if conn.closed {
				t.Errorf("the connection of person %d was closed", i+1)
			}
		}
	})
}
