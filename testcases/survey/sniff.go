package main

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// front forwards connections to an app unchanged, and counts the WebSockets that the app
// accepts.
type front struct {
	ln      net.Listener
	to      string
	sockets atomic.Int64
	wg      sync.WaitGroup
	mu      sync.Mutex
	conns   []net.Conn
	closed  bool
}

func newFront(to string) (*front, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{ln: ln, to: to}
	f.wg.Go(f.accept)
	return f, nil
}

func (f *front) accept() {
	for {
		c, err := f.ln.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.forward(c) })
	}
}

// keep notes a connection that close closes.
func (f *front) keep(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		_ = c.Close()
	}
	f.conns = append(f.conns, c)
}

func (f *front) forward(c net.Conn) {
	defer c.Close()
	f.keep(c)
	app, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	defer app.Close()
	f.keep(app)
	f.wg.Go(func() {
		_, _ = io.Copy(app, c)
		_ = app.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(io.MultiWriter(c, upgrades{f}), app)
}

// upgrades sees what an app sends. A response begins with a packet.
type upgrades struct{ *front }

func (u upgrades) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("HTTP/1.1 101 ")) {
		u.sockets.Add(1)
	}
	return len(b), nil
}

// close ends all connections, and waits for them.
func (f *front) close() {
	_ = f.ln.Close()
	f.mu.Lock()
	f.closed = true
	for _, c := range f.conns {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}
