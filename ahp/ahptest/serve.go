package ahptest

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Serve serves HTTP on a listener until the test ends or stop is called, which waits
// until the listener is free and every connection that was not taken over has ended.
func Serve(t testing.TB, ln net.Listener, srv *http.Server) (stop func()) {
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	stop = sync.OnceFunc(func() { _ = srv.Close(); <-done })
	t.Cleanup(stop)
	return stop
}

// maxKept is how long Kept waits.
const maxKept = time.Hour

// Kept sends a request to a server over a connection in memory, reads no answer, and
// returns how long the server keeps the connection: at most an hour. It is for a
// synctest bubble, where that takes no time, and sets srv.ConnState.
func Kept(t testing.TB, srv *http.Server, request string) time.Duration {
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
	case <-time.After(maxKept):
	}
	return time.Since(began)
}
