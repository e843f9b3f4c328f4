package bridge

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

var testView = canvas.View{Conn: 1, ClientID: "page"}

// pair is a Server and a Client whose messages are delivered directly.
func pair(t testing.TB, opts Options) (*Server, *Client) {
	t.Helper()
	var s *Server
	var c *Client
	if opts.Origin == "" {
		opts.Origin = "http://127.0.0.1:3000"
	}
	toHost := newMailbox(func(p ahp.Value) { s.Message(context.Background(), testView, p) })
	toPage := newMailbox(func(p ahp.Value) { c.Message(p) })
	opts.Send = func(_ canvas.View, p ahp.Value) error { toPage.put(p.Clone()); return nil }
	s, err := NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	c = NewClient(ClientOptions{Send: func(p ahp.Value) error { toHost.put(p); return nil }})
	t.Cleanup(func() {
		c.Close()
		s.Close()
		toHost.close()
		toPage.close()
	})
	return s, c
}

// mailbox delivers payloads in order from one goroutine, as a host's does.
type mailbox struct {
	queue chan ahp.Value
	done  chan struct{}
}

func newMailbox(to func(ahp.Value)) *mailbox {
	m := &mailbox{make(chan ahp.Value, 1<<16), make(chan struct{})}
	go func() {
		defer close(m.done)
		for p := range m.queue {
			if p == nil {
				return
			}
			if len(p) > maxMessage {
				panic("a message is too large")
			}
			to(p)
		}
	}()
	return m
}

func (m *mailbox) put(p ahp.Value) { m.queue <- p }
func (m *mailbox) close()          { m.queue <- nil; <-m.done }

// app serves a handler on a socket, and returns the RoundTripper for it.
func app(t testing.TB, h http.Handler) (origin string, rt http.RoundTripper) {
	t.Helper()
	srv := httptest.NewServer(h)
	tr := &http.Transport{DisableCompression: true, MaxResponseHeaderBytes: 64 << 10, ReadBufferSize: 64 << 10, WriteBufferSize: 64 << 10}
	t.Cleanup(func() { tr.CloseIdleConnections(); srv.Close() })
	return srv.URL, tr
}

func do(t *testing.T, c *Client, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://canvas"+path, r)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

func TestRoundTrip(t *testing.T) {
	origin, rt := app(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(201)
		_, _ = w.Write([]byte(r.Method + " " + r.RequestURI + " " + string(body)))
	}))
	_, c := pair(t, Options{Origin: origin, RoundTripper: rt})
	resp, got := do(t, c, "POST", "/a%20b//c?x=1&y=%2f", "hello")
	if resp.StatusCode != 201 || got != "POST /a%20b//c?x=1&y=%2f hello" || resp.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("got %v %q", resp, got)
	}
	big := strings.Repeat("0123456789", 200_000)
	if _, got := do(t, c, "PUT", "/up", big); got != "PUT /up "+big {
		t.Errorf("2 MB there and back gave %d bytes", len(got))
	}
}
