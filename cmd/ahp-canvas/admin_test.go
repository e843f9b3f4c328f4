package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// Health and metrics are for programs and for who types the address, not for a
// page that found a way to it.
func TestAdminIsNotForPages(t *testing.T) {
	address := "127.0.0.1:" + freePort(t)
	stop, err := startAdmin(address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, c := range []struct {
		path   string
		header http.Header
		want   int
		host   string // "" is the address
	}{
		{"/healthz", nil, 200, ""},
		{"/metrics", nil, 200, ""},
		{"/metrics", http.Header{"Sec-Fetch-Site": {"none"}}, 200, ""},
		{"/metrics", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 403, ""},
		{"/metrics", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, ""},
		{"/healthz", http.Header{"Origin": {"http://evil.test"}}, 403, ""},
		{"/metrics", nil, 200, "localhost:9090"},
		{"/metrics", nil, 200, "[::1]:9090"},
		// A page whose name was bound to this address: over plain http a browser
		// says nothing of it.
		{"/metrics", nil, 421, "evil.test:9090"},
		{"/healthz", nil, 421, "localhost.evil.test"},
		{"/metrics", nil, 421, "127.0.0.1.evil.test"},
		{"/", nil, 404, ""},
		{"/debug/pprof/", nil, 404, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != nil {
			req.Header = c.header
		}
		req.Host = c.host
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s of %q with %v: %d, want %d", c.path, c.host, c.header, resp.StatusCode, c.want)
		}
	}
}

// A connection that asks nothing more, sends no body or reads no answer is not
// kept.
func TestAdminKeepsNoConnection(t *testing.T) {
	for name, request := range map[string]string{
		"idle":      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"no body":   "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
		"no header": "GET / HTTP/1.1\r\n",
		"unread":    "GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mux := http.NewServeMux()
				mux.HandleFunc("/much", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
				network := &ahptest.Net{}
				ln, err := network.Listen("mem:80")
				if err != nil {
					t.Fatal(err)
				}
				srv := adminServer(mux, true, slog.New(slog.DiscardHandler))
				done, ended := make(chan struct{}), make(chan struct{})
				srv.ConnState = func(_ net.Conn, s http.ConnState) {
					if s == http.StateClosed {
						close(ended)
					}
				}
				go func() { defer close(done); _ = srv.Serve(ln) }()
				defer func() { _ = srv.Close(); <-done }()
				c, err := network.Dial(t.Context(), "", "mem:80")
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := io.WriteString(c, request); err != nil {
					t.Fatal(err)
				}
				select {
				case <-ended:
				case <-time.After(time.Hour):
					t.Error("it is still there after an hour")
				}
			})
		})
	}
}
