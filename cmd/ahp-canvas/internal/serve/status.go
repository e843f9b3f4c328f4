package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// statusInterval is how often the status line is updated.
const statusInterval = time.Second

// followStatus shows the state of a host and of its relay until ctx is canceled, and then
// removes the line.
func followStatus(ctx context.Context, line *term.StatusLine, h *host.Host, relayStatus func() string) {
	defer line.Set("")
	tick := time.NewTicker(statusInterval)
	defer tick.Stop()
	for {
		if open, err := h.Canvases().ListOpen(host.DefaultSession); err == nil {
			line.Set(status(open, h.Load().Connections) + relayStatus())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// status is short, so that no terminal wraps it.
func status(open []canvas.OpenCanvas, connections int) string {
	stale := 0
	for _, o := range open {
		if o.Availability == session.Stale {
			stale++
		}
	}
	text := "  " + term.Count(len(open), "canvas open", "canvases open")
	if stale > 0 {
		text += fmt.Sprintf(", %d stale", stale)
	}
	return text + fmt.Sprintf(", %d connected", connections)
}
