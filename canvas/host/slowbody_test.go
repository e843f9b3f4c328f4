package host_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A client that announces a body and does not send it loses the connection, at every
// endpoint.
func TestMissingBody(t *testing.T) {
	for _, endpoint := range []struct{ method, path, hostName string }{
		{"POST", "/", "localhost:80"},
		{"POST", "/mcp", "localhost:80"},
		{"GET", "/ahp", "localhost:80"},
		{"POST", "/healthz", "localhost:80"},
		{"POST", "/.ahp/sw.js", "c-0123456789abcdef0123456789abcdef.localhost:80"},
		{"POST", "/", "evil.example"},
	} {
		t.Run(endpoint.method+" "+endpoint.hostName+endpoint.path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := &ahptest.Net{}
				ln, err := network.Listen("127.0.0.1:80")
				if err != nil {
					t.Fatal(err)
				}
				h, err := host.New(host.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- h.Serve(ctx, ln) }()
				defer func() { stop(); <-done }()
				c, err := network.Dial(t.Context(), "", ln.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				began := time.Now()
				_ = c.SetReadDeadline(began.Add(time.Hour))
				fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 10\r\n\r\n", endpoint.method, endpoint.path, endpoint.hostName)
				if _, err := io.Copy(io.Discard, c); err != nil {
					t.Errorf("the connection is still open after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}
