package hosttest

import (
	"context"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// Serve serves h until stop is called, or the test ends. A host that did not
// drain fails the test; stop returns that error too, and may be called again.
func Serve(t testing.TB, h *host.Host) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx) }()
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
