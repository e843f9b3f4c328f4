package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// addressed serves a page behind a ConnLimiter on a real socket. /stall does not answer.
func addressed(t *testing.T, c *web.ConnLimiter) (addr string) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stall" {
			<-r.Context().Done()
		}
	}))
	c.Watch(srv.Config)
	srv.Start()
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	return srv.Listener.Addr().String()
}

// from returns a dialer with a local address.
func from(ip string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: 10 * time.Second}
}

// page requests / from an address, over a new connection, and returns the status.
func page(t *testing.T, addr, ip, forwarded string) int {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: from(ip).DialContext}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if forwarded != "" {
		req.Header.Set("X-Forwarded-For", forwarded)
	}
	resp, err := (&http.Client{Transport: tr, Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		t.Logf("from %s: %v", ip, err)
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// flood keeps opening connections from an address, each of which sends text and waits,
// until the test ends. It returns when n have been opened.
func flood(t *testing.T, addr, ip, text string, n int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	t.Cleanup(func() { stop(); wg.Wait() })
	opened := make(chan struct{}, n)
	for range n {
		wg.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				conn, err := from(ip).DialContext(ctx, "tcp", addr)
				if first {
					opened <- struct{}{}
				}
				if err != nil {
					continue
				}
				undo := context.AfterFunc(ctx, func() { conn.Close() })
				_, _ = io.WriteString(conn, text)
				_, _ = io.Copy(io.Discard, conn)
				undo()
				conn.Close()
			}
		})
	}
	for range n {
		<-opened
	}
}

// TestStrangersShutOutOnlyThemselves checks that each of 25 people gets the page at once
// while an address without a token keeps opening more connections than the limit.
func TestStrangersShutOutOnlyThemselves(t *testing.T) {
	if conn, err := from("127.0.0.9").Dial("tcp", addressed(t, new(web.ConnLimiter))); err != nil {
		t.Skip("this machine has one loopback address:", err)
	} else {
		conn.Close()
	}
	for name, text := range map[string]string{"silent": "", "stalled": request("/stall")} {
		t.Run(name, func(t *testing.T) {
			addr := addressed(t, &web.ConnLimiter{Max: 40})
			flood(t, addr, "127.0.0.2", text, 60)
			for i := range 25 {
				if got := page(t, addr, fmt.Sprintf("127.0.1.%d", i+1), ""); got != http.StatusOK {
					t.Errorf("person %d: status %d", i+1, got)
				}
			}
		})
	}
}

// TestStrangersThroughAProxy checks that requests through a trusted proxy count for the
// address in X-Forwarded-For.
func TestStrangersThroughAProxy(t *testing.T) {
	proxies, err := remote.Parse([]string{"127.0.0.0/8", "::1"})
	if err != nil {
		t.Fatal(err)
	}
	c := &web.ConnLimiter{Max: 200, Proxies: proxies}
	addr := addressed(t, c)
	var stalled []net.Conn
	for range 100 { // half of the limit, which stays active
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stalled = append(stalled, conn)
		fmt.Fprint(conn, "GET /stall HTTP/1.1\r\nHost: mem\r\nX-Forwarded-For: 203.0.113.5\r\n\r\n")
	}
	// The stalled requests have arrived once the address gets a 503.
	for page(t, addr, "127.0.0.1", "203.0.113.5") != http.StatusServiceUnavailable {
		if t.Context().Err() != nil {
			t.Fatal("the address was never refused")
		}
	}
	for i := range 25 {
		if got := page(t, addr, "127.0.0.1", fmt.Sprintf("203.0.113.%d", 100+i)); got != http.StatusOK {
			t.Errorf("another address: status %d", got)
		}
	}
	if got := c.Stats(); got.Open < len(stalled) {
		t.Errorf("%+v", got)
	}
}
