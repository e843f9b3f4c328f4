package loopback_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// The same over real sockets: a POST, a split answer, an app that is gone.
func TestSockets(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/split" {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(make([]byte, 50_000))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-Sum")
		_, _ = w.Write(body)
		w.Header().Set("X-Sum", "9f")
	}))
	defer srv.Close()
	h := open(t, newProvider(t, srv.URL, loopback.Options{}))
	want := strings.Repeat("0123456789", 150_000)
	req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://canvas/up", strings.NewReader(want))
	resp, err := h.page.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if string(got) != want || err != nil || resp.Trailer.Get("X-Sum") != "9f" {
		t.Errorf("got %d bytes, trailers %v, %v", len(got), resp.Trailer, err)
	}
	_, half, err := h.page.get(t, "/split")
	if !errors.Is(err, &bridge.Error{Code: bridge.CodeBroken}) || len(half) != 50_000 {
		t.Errorf("a split answer gave %d bytes, %v", len(half), err)
	}
	if _, _, err := h.page.get(t, "/"); err != nil {
		t.Errorf("a request after it: %v", err)
	}
	srv.CloseClientConnections()
	srv.Close()
	if _, _, err := h.page.get(t, "/"); !errors.Is(err, &bridge.Error{Code: bridge.CodeUnavailable}) && !errors.Is(err, bridge.ErrLost) {
		t.Errorf("an app that is gone gave %v", err)
	}
}

func TestProviderOverSockets(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(hello))
	defer srv.Close()
	p := newProvider(t, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), loopback.Options{})
	canvastest.TestProvider(t, canvastest.Config{Provider: p, Declaration: p.Declarations()[0], Path: "/"})
}

// A name that resolves to another machine is not dialed.
func TestDialsLoopbackOnly(t *testing.T) {
	if conn, err := loopback.DialLoopback(context.Background(), "tcp", "192.0.2.1:80"); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("dialed %v, %v", conn, err)
	}
}
