package host_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// Close of a host that a program serves itself closes connections with 1001 and refuses
// new ones; it can be called again.
func TestCloseOfAPlainHandler(t *testing.T) {
	h, err := host.New(host.Options{ViewToken: viewToken})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	c, err := ws.Dial(t.Context(), strings.Replace(srv.URL, "http", "ws", 1)+"/ahp", ws.DialOptions{Token: viewToken})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.ReadMessage(); ws.CodeOf(err) != ws.CodeGoingAway {
		t.Errorf("the connection ended with %v", err)
	}
	c.Close(ws.CodeNormal, "")
	c.Wait()
	for _, path := range []string{"/ahp", "/mcp", "/healthz"} {
		if status, body := request(t, "GET", srv.URL+path, "", bearerToken(viewToken)); status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if err := h.Serve(t.Context(), listen(t)); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve of a closed host: %v", err)
	}
}

// Close ends Serve, which calls Ready once, with the link.
func TestCloseEndsServe(t *testing.T) {
	links := make(chan string, 2)
	h, err := host.New(host.Options{ViewToken: viewToken, Ready: func(link string) { links <- link }})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.ListenAndServe(context.Background(), "127.0.0.1:0") }()
	if link := <-links; link != h.Link(host.DefaultSession) || !strings.HasPrefix(link, h.Endpoints().Page+"#tkn="+viewToken) {
		t.Errorf("Ready got %s", link)
	}
	ln := listen(t)
	if err := h.Serve(t.Context(), ln); err == nil {
		t.Error("Serve was called twice")
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the second listener is open: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil || len(links) != 0 {
		t.Errorf("Serve returned %v, %d more links", err, len(links))
	}
}

// A listener that fails ends Serve with its error.
func TestServeOnABrokenListener(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln := listen(t)
	_ = ln.Close()
	if err := h.Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve returned %v", err)
	}
}

// A listener without a port gives the host no name.
func TestServeWithoutAName(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.SetAddr(&net.UnixAddr{Name: "/run/host.sock", Net: "unix"}); err == nil || !strings.Contains(err.Error(), "set Options.Origins") {
		t.Errorf("SetAddr returned %v", err)
	}
	if h.Link(host.DefaultSession) != "" {
		t.Error("it has a link")
	}
}

// Options that the host cannot use are refused, not ignored.
func TestBadOptions(t *testing.T) {
	for name, opts := range map[string]host.Options{
		"an origin with a query":                 {Origins: []string{"https://canvas.example/?path"}},
		"an origin without a scheme":             {Origins: []string{"canvas.example"}},
		"a content origin that is no pattern":    {ContentOrigin: "https://canvas.example"},
		"a content origin that has the page":     {Origins: []string{"https://c-0123456789abcdef0123456789abcdef.example"}, ContentOrigin: "https://*.example"},
		"a number that the host reserves itself": {Log: channels.Options{FirstSeq: 7}},
		"methods that the host sets itself":      {Server: server.Options{Methods: []server.Method{}}},
	} {
		if h, err := host.New(opts); err == nil {
			h.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}
