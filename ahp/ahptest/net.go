package ahptest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Addr is the address of an end of an in-memory connection.
type Addr string

// Network returns "mem".
func (a Addr) Network() string { return "mem" }

func (a Addr) String() string { return string(a) }

// Net is a network in memory. The zero value is ready. Its listeners serve
// net/http, and Dial has the form that dialers take.
type Net struct {
	// Buffer is the size of each direction of a connection; 0 is DefaultBuffer.
	Buffer int

	mu        sync.Mutex
	listeners map[string]*Listener
	dialled   int
}

// Listen opens an address, any non-empty string ("host:80").
func (n *Net) Listen(addr string) (*Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[addr] != nil {
		return nil, &net.OpError{Op: "listen", Net: "mem", Addr: Addr(addr), Err: syscall.EADDRINUSE}
	}
	l := &Listener{net: n, addr: Addr(addr), queue: make(chan *Conn), done: make(chan struct{})}
	if n.listeners == nil {
		n.listeners = map[string]*Listener{}
	}
	n.listeners[addr] = l
	return l, nil
}

// Dial connects to a listener; the network's name is ignored. The connection is
// a *Conn, so that a test can freeze or cut the client's end.
func (n *Net) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[addr]
	n.dialled++
	from := Addr(fmt.Sprintf("client:%d", n.dialled))
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: "mem", Addr: Addr(addr), Err: syscall.ECONNREFUSED}
	if l == nil {
		return nil, refused
	}
	client, server := pipe(n.Buffer, from, l.addr)
	select {
	case l.queue <- server:
		return client, nil
	case <-l.done:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Listener is an in-memory net.Listener.
type Listener struct {
	net   *Net
	addr  Addr
	queue chan *Conn
	once  sync.Once
	done  chan struct{}
}

var _ net.Listener = (*Listener)(nil)

// Accept waits for a Dial.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and refuses later dials; connections live on.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.net.mu.Lock()
		defer l.net.mu.Unlock()
		delete(l.net.listeners, string(l.addr))
	})
	return nil
}

// Addr returns the address that was opened.
func (l *Listener) Addr() net.Addr { return l.addr }
