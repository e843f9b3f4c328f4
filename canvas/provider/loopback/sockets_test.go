package loopback

import (
	"errors"
	"net"
	"testing"
)

// One app has at most half of the connections to apps, all have the limit, and a closed
// connection frees its place.
func TestSockets(t *testing.T) {
	listen := func() string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		return ln.Addr().String()
	}
	a, b, c := listen(), listen(), listen()
	s := NewSockets(4)
	dial := func(addr string, want error) net.Conn {
		t.Helper()
		conn, err := s.Dial(t.Context(), "tcp", addr)
		if !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
		if conn != nil {
			t.Cleanup(func() { conn.Close() })
		}
		return conn
	}
	dial(a, nil)
	first := dial(a, nil)
	dial(a, errSockets)
	dial(b, nil)
	dial(b, nil)
	dial(c, errSockets)
	first.Close()
	first.Close() // counts once
	dial(c, nil)
	dial(c, errSockets)
}
