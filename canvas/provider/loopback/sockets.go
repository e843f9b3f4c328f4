package loopback

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Sockets limits the connections to all apps of a program, so that apps that do not
// answer cannot use up the files that the process can open. One app has at most half.
type Sockets struct {
	max int

	mu   sync.Mutex
	open int
	apps map[string]int // by address
}

// NewSockets returns a limit of max connections.
func NewSockets(max int) *Sockets { return &Sockets{max: max, apps: map[string]int{}} }

// errSockets is the error of a request for which no connection is left.
var errSockets = errors.New("too many connections to apps: try again later")

// Dial connects to an app on this machine, within the limit.
func (s *Sockets) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if !s.take(addr) {
		return nil, errSockets
	}
	conn, err := dialLoopback(ctx, network, addr)
	if err != nil {
		s.release(addr)
		return nil, err
	}
	return &countedConn{Conn: conn, release: sync.OnceFunc(func() { s.release(addr) })}, nil
}

func (s *Sockets) take(addr string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.max || s.apps[addr] >= max(s.max/2, 1) {
		return false
	}
	s.open++
	s.apps[addr]++
	return true
}

func (s *Sockets) release(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.apps[addr]--; s.apps[addr] == 0 {
		delete(s.apps, addr)
	}
}

// countedConn is a connection that counts until it is closed.
type countedConn struct {
	net.Conn
	release func()
}

func (c *countedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
