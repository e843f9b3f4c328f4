package web_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// limitedServer is an in-memory server with a connection limit. /wait responds when the test
// allows it, other paths at once.
type limitedServer struct {
	*web.ConnLimiter
	t       *testing.T
	network *ahptest.Net
	release chan struct{}
}

func newLimitedServer(t *testing.T, size int) *limitedServer {
	c := &limitedServer{ConnLimiter: &web.ConnLimiter{Max: size}, t: t, network: &ahptest.Net{}, release: make(chan struct{})}
	ln, err := c.network.Listen("mem:80")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/wait": // with a token
			if !web.Proven(r) {
				web.TooMany(w, r)
				return
			}
			<-c.release
		case "/stall": // without one
			<-r.Context().Done()
		case "/hijack":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { conn.Close() })
		}
	})}
	c.Watch(srv)
	ahptest.Serve(t, ln, srv)
	return c
}

// dial opens a connection and sends text, which can be empty.
func (c *limitedServer) dial(sends string) net.Conn {
	c.t.Helper()
	conn, err := c.network.Dial(c.t.Context(), "", "mem:80")
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	if sends != "" {
		// A rejected connection accepts no more data.
		_, _ = io.WriteString(conn, sends)
	}
	synctest.Wait()
	return conn
}

func request(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: mem\r\n\r\n" }

// status returns the status of the pending response on a connection; 0 if there is
// none.
func (c *limitedServer) status(conn net.Conn) int {
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// alive reports whether a connection without a response is open.
func (c *limitedServer) alive(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

func (c *limitedServer) wants(open int, refused, evicted uint64) {
	c.t.Helper()
	synctest.Wait()
	want := web.ConnStats{Open: open, Max: c.Max, Refused: refused, Evicted: evicted}
	if got := c.Stats(); got != want {
		c.t.Errorf("%+v, want %+v", got, want)
	}
}

// Connections that send nothing delay others of their address for at most 100 ms, however
// many they are.
func TestIdleConnectionsAreEvicted(t *testing.T) {
	for name, sends := range map[string]string{"nothing": "", "half a header": "GET / HTTP/1.1\r\nHo", "between requests": request("/")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newLimitedServer(t, 3)
				first := c.dial(sends)
				c.status(first) // without an answer it takes 1 ms of the fake clock
				time.Sleep(20 * time.Millisecond)
				second := c.dial(sends)
				c.status(second)
				third := c.dial(sends)
				c.status(third)
				c.wants(3, 0, 0)
				if got := c.status(c.dial(request("/"))); got != http.StatusServiceUnavailable {
					t.Errorf("the fourth at once: status %d", got)
				}
				c.wants(3, 1, 0)
				time.Sleep(82 * time.Millisecond)
				if got := c.status(c.dial(request("/"))); got != http.StatusOK {
					t.Errorf("the fourth 100 ms later: status %d", got)
				}
				c.wants(3, 1, 1)
				if c.alive(first) || !c.alive(second) || !c.alive(third) {
					t.Errorf("the first is open: %t, the second: %t, the third: %t", c.alive(first), c.alive(second), c.alive(third))
				}
			})
		})
	}
}

// An active request with a token is not cut, however long it takes, and such requests have
// at most three quarters of the limit.
func TestActiveConnectionsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimitedServer(t, 4)
		agents := []net.Conn{c.dial(request("/wait")), c.dial(request("/wait")), c.dial(request("/wait"))}
		time.Sleep(time.Hour)
		fourth := c.dial(request("/wait"))
		if got := c.status(fourth); got != 0 {
			t.Errorf("the fourth agent is answered at once: status %d", got)
		}
		time.Sleep(2 * time.Second)
		if got := c.status(fourth); got != http.StatusServiceUnavailable {
			t.Errorf("the fourth agent: status %d", got)
		}
		fourth = c.dial(request("/wait")) // gives way to a page
		for range 2 {
			if got := c.status(c.dial(request("/"))); got != http.StatusOK {
				t.Errorf("a page beside the agents: status %d", got)
			}
			time.Sleep(time.Second)
		}
		if c.alive(fourth) {
			t.Error("an agent that was about to be refused did not give way")
		}
		for range agents {
			c.release <- struct{}{}
		}
		synctest.Wait()
		for i, a := range agents {
			if got := c.status(a); got != http.StatusOK {
				t.Errorf("agent %d was answered with %d", i, got)
			}
		}
	})
}

// An agent's idle connection gives way to another agent.
func TestIdleConnectionsOfAgentsAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimitedServer(t, 4)
		for range 9 {
			conn := c.dial(request("/wait"))
			c.release <- struct{}{}
			if got := c.status(conn); got != http.StatusOK {
				t.Fatalf("status %d", got)
			}
		}
		c.wants(3, 0, 6)
	})
}

// A request without a token is safe for 2 s, and is then cut for a new connection.
func TestStalledRequestsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimitedServer(t, 2)
		c.dial(request("/stall"))
		c.dial(request("/stall"))
		time.Sleep(2*time.Second - 1)
		refused := c.dial("")
		if got := c.status(refused); got != http.StatusServiceUnavailable {
			t.Errorf("before 2 s: status %d", got)
		}
		if c.alive(refused) {
			t.Error("it was not closed")
		}
		c.wants(2, 1, 0)
		time.Sleep(time.Millisecond)
		if got := c.status(c.dial(request("/"))); got != http.StatusOK {
			t.Errorf("after 2 s: status %d", got)
		}
	})
}

// Closed connections and WebSockets are not counted.
func TestClosedConnectionsAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimitedServer(t, 2)
		for range 3 {
			c.dial(request("/")).Close()
			c.dial(request("/hijack"))
			c.wants(0, 0, 0)
		}
	})
}

// On a real socket, a client can read the 503 although the server closes at once; its
// headers allow a browser nothing.
func TestRejectionIsReadable(t *testing.T) {
	c := &web.ConnLimiter{Max: 1}
	began, end := make(chan struct{}), make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		web.Proven(r)
		close(began)
		<-end
	}))
	c.Watch(srv.Config)
	srv.Start()
	defer srv.Close()
	defer close(end)
	busy, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	fmt.Fprint(busy, request("/"))
	<-began
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	all, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 503 ") {
		t.Fatalf("%q, %v", all, err)
	}
	for _, want := range []string{"\r\nConnection: close\r\n", "\r\nRetry-After: 5\r\n", "\r\nContent-Security-Policy: default-src 'none'\r\n", "\r\nX-Content-Type-Options: nosniff\r\n"} {
		if !strings.Contains(string(all), want) {
			t.Errorf("it lacks %q:\n%s", want, all)
		}
	}
}

// Over TLS a connection is rejected before the handshake. All requests of an HTTP/2
// connection count as one connection.
func TestConnLimiterOverTLS(t *testing.T) {
	c := &web.ConnLimiter{Max: 1}
	began, end := make(chan struct{}), make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Proven(r)
		fmt.Fprint(w, r.Proto)
		_ = http.NewResponseController(w).Flush()
		began <- struct{}{}
		<-end
	}))
	srv.EnableHTTP2 = true
	c.Watch(srv.Config)
	srv.StartTLS()
	defer srv.Close()
	var bodies []io.ReadCloser
	for range 2 {
		resp, err := srv.Client().Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		<-began
		bodies = append(bodies, resp.Body)
	}
	if got := c.Stats(); got.Open != 1 {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	if conn, err := d.DialContext(ctx, "tcp", srv.Listener.Addr().String()); err == nil || ctx.Err() != nil {
		if conn != nil {
			conn.Close()
		}
		t.Errorf("a second connection: %v", err)
	}
	if got := c.Stats(); got.Refused != 1 || got.Evicted != 0 {
		t.Errorf("%+v", got)
	}
	close(end)
	for _, b := range bodies {
		if text, err := io.ReadAll(b); string(text) != "HTTP/2.0" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		b.Close()
	}
}

// Stats can be called before the server serves: an admin listener starts first.
func TestStatsBeforeTheServer(t *testing.T) {
	var c web.ConnLimiter
	asked := make(chan web.ConnStats)
	go func() { asked <- c.Stats() }()
	c.Watch(&http.Server{Handler: http.NotFoundHandler()})
	if got := <-asked; got.Open != 0 || got.Max != web.DefaultMaxConns {
		t.Errorf("%+v", got)
	}
}
