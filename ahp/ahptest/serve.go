package ahptest

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Serve serves HTTP on a listener until the test ends or stop is called. stop closes the
// listener and all connections, except hijacked ones.
func Serve(t testing.TB, ln net.Listener, srv *http.Server) (stop func()) {
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	stop = sync.OnceFunc(func() { _ = srv.Close(); <-done })
	t.Cleanup(stop)
	return stop
}

// maxLifetime is the longest time that ConnLifetime returns.
const maxLifetime = time.Hour

// ConnLifetime sends a request to a server over an in-memory connection, reads no answer,
// and returns how long the server keeps the connection open, at most an hour. It sets
// srv.ConnState. Call it in a synctest bubble, where waiting takes no time.
func ConnLifetime(t testing.TB, srv *http.Server, request string) time.Duration {
	t.Helper()
	var network Net
	ln, err := network.Listen("mem:80")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	srv.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			close(ended)
		}
	}
	defer Serve(t, ln, srv)()
	c, err := network.Dial(t.Context(), "", "mem:80")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(maxLifetime):
	}
	return time.Since(began)
}
