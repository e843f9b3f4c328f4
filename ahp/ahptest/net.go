package ahptest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Addr is the address of one end of an in-memory connection.
type Addr string

// Network returns "mem".
func (a Addr) Network() string { return "mem" }

// String returns the address.
func (a Addr) String() string { return string(a) }

// Net is an in-memory network. The zero value is ready to use. net/http can serve on its
// listeners, and Dial has the signature of a dialer's DialContext.
type Net struct {
	// Buffer is the size of the buffer for each direction of a connection
	// (DefaultBuffer).
	Buffer int

	mu        sync.Mutex
	listeners map[string]*Listener
	dialed    int
}

// Listen listens at an address, which can be any string ("host:80").
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

// Dial connects to a listener. It ignores the network's name. The connection is a *Conn,
// so that a test can freeze or cut the client's end.
func (n *Net) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[addr]
	n.dialed++
	from := Addr(fmt.Sprintf("client:%d", n.dialed))
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

// Close ends Accept and refuses later dials. Connections stay open.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.net.mu.Lock()
		defer l.net.mu.Unlock()
		delete(l.net.listeners, string(l.addr))
	})
	return nil
}

// Addr returns the address of Listen.
func (l *Listener) Addr() net.Addr { return l.addr }
