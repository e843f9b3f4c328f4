package hosttest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/internal/wiring"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Serve serves h on a free port of loopback, as [ServeOn] does.
func Serve(t testing.TB, h *host.Host) (stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ServeOn(t, h, ln)
}

// ServeOn serves h on a listener until stop is called or the test ends. The host has its
// links when ServeOn returns. The test fails if the host does not drain; stop returns
// that error too, and can be called again.
func ServeOn(t testing.TB, h *host.Host, ln net.Listener) (stop func() error) {
	t.Helper()
	if err := h.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, ln) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("the host did not drain: %v", err)
		}
	})
	return stop
}

// Log returns the log of a host, for tests that publish actions or read states.
func Log(h *host.Host) *channels.Log { return wiring.Log(h) }
